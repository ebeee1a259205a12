"""Find invisible characters, reject them in ids, and map lookalike characters to a single form."""

import re
import unicodedata
from collections.abc import Iterable

from ragrelay.base.errors import InputError

# Unicode 15.1, DerivedCoreProperties.txt: Default_Ignorable_Code_Point.
ZERO_WIDTH = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Zero-width characters. Accents and vowel signs don't count, because they are drawn onto a letter."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# To find a visible character quickly, because almost every text begins with a letter. Hangul fillers are invisible.
_LETTER = re.compile("[^\\W_\u115f\u1160\u3164\uffa0]")
NO_BLANK = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters other than whitespace."""
_BLANK_BRAILLE = "\u2800"
# Superscripts, subscripts, fractions and circled characters keep their meaning: 10² is not 102.
_RAISED = re.compile(
    "([\u00aa\u00b2\u00b3\u00b9\u00ba\u00bc-\u00be\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u1d78\u1d9b-\u1dbf\u2070-\u209f"
    "\u2120\u2122\u2150-\u215f\u2189\u2460-\u24ff]+)"
)
_QUOTES_AND_DASHES = str.maketrans(
    dict.fromkeys("‘’‚‛′´ʼʹ", "'") | dict.fromkeys("“”„‟″«»〝〞〟", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)


def composed(text: str) -> str:
    """Return ``text`` in Unicode normalisation form NFC, which merges letters with their accents where possible."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def plain(text: str) -> str:
    """Return ``text`` with lookalike characters mapped to one form.

    Letters and accents are combined; typographic quotes and dashes become ASCII; full-width and half-width forms,
    ligatures and spaces become ordinary characters (NFKC); zero-width characters are removed.
    """
    if text.isascii():
        return text
    parts = _RAISED.split(text.translate(_QUOTES_AND_DASHES))
    ordinary = "".join(part if number % 2 else unicodedata.normalize("NFKC", part) for number, part in enumerate(parts))
    return composed(ZERO_WIDTH.sub("", ordinary))


def check_id(place: str, name: str, value: str) -> None:
    """Raise InputError if the id ``value`` is empty or contains whitespace or invisible characters.

    Whitespace would break TREC files, and pytrec_eval cuts ids off at a NUL. ``name``: the kind of id, such as qid.
    """
    if value.isascii() and value.isprintable() and value and " " not in value:
        return
    if not value or any(character.isspace() for character in value):
        raise InputError(place, f"{name} {value!r}", f"a {name} without whitespace, as TREC files require")
    for number, character in enumerate(value, start=1):
        if not is_seen(character):
            found = f"{name} {value!r}, in which character {number} is U+{ord(character):04X}"
            raise InputError(place, found, f"a {name} with only visible characters")


def is_seen(text: str) -> bool:
    """Return whether ``text`` contains a character that is printable and neither zero-width nor whitespace."""
    return bool(_LETTER.search(text)) or any(
        character.isprintable()
        and not character.isspace()
        and character != _BLANK_BRAILLE
        and not ZERO_WIDTH.match(character)
        for character in text
    )


def check_text(place: str, text: str) -> None:
    """Raise InputError if ``text`` contains a NUL character, because C libraries would cut the text off there."""
    if "\0" in text:
        raise InputError(place, f"U+0000 at character {text.index(chr(0)) + 1} of the text", "text without NUL")


def check_query(place: str, text: str, refused: re.Pattern[str] = CONTROL) -> None:
    """Raise InputError if a query contains a character that matches ``refused``; engines may reject such queries."""
    if control := refused.search(text):
        found = f"U+{ord(control[0]):04X} at character {control.start() + 1} of the text"
        raise InputError(place, found, "a query without control characters")


def count_unseen(what: str, texts: Iterable[str]) -> dict[str, int]:
    """Count the ``texts`` that contain unprintable characters (other than whitespace) or zero-width characters.

    ``what``: a plural noun for the texts, used to name the counts.
    """
    unprintable = zero_width = 0
    for text in texts:
        if text.isascii() and text.isprintable():
            continue
        if not text.replace("\n", " ").isprintable():
            unprintable += bool(NO_BLANK.search(text)) or not "".join(text.split()).isprintable()
        zero_width += _has_zero_width(text)
    return {
        f"{what} with unprintable characters (kept as they are)": unprintable,
        f"{what} with zero-width characters (kept as they are)": zero_width,
    }


def _has_zero_width(text: str) -> bool:
    """Return whether ``text`` has a zero-width character. In Latin-1, the soft hyphen is the only one."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return ZERO_WIDTH.search(text) is not None
    return "\u00ad" in text
