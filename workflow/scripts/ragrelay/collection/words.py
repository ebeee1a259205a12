"""Check whether a tokenizer can read the words in a dataset's texts, in any script."""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection

log = logging.getLogger(__name__)

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Unicode blocks: Thai, Lao, Myanmar, Khmer, kana. Hangul has spaces between words.
_UNSPACED = f"{_HAN}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
UNSPACED = re.compile(f"[{_UNSPACED}]")
"""A letter from a script without spaces between words. It counts as a word."""
WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
MODEL_WORDS = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")
"""A piece of text that a model's tokenizer either splits into known tokens or replaces with a single unknown token."""
MOST_LOST = 0.05
"""Texts are rejected if a tokenizer drops more than this share of words. If it cuts more, a warning is logged."""
MOST_CUT = 0.5
"""Texts are rejected if a tokenizer cuts (drops some letters of) more than this share of words."""
SAMPLE = 1000
"""Number of passages per collection in which words are counted."""

Tokens = Callable[[str], Sequence[str]]
"""A function that returns a tokenizer's tokens for a word."""


class Shares(NamedTuple):
    """The shares of words that a tokenizer drops completely (``lost``) or in part (``cut``)."""

    lost: float
    cut: float

    @property
    def refused(self) -> bool:
        """Whether texts with these shares are rejected."""
        return self.lost > MOST_LOST or self.lost + self.cut > MOST_CUT

    def __str__(self) -> str:
        return f"{self.lost:.0%} of the words without any letter that the tokenizer reads, and {self.cut:.0%} cut"


def shares(texts: Iterable[str], tokens: Tokens, pattern: re.Pattern[str] = WORDS) -> Shares:
    """Return the shares of words in ``texts`` that the tokenizer drops or cuts. ASCII words count as intact."""
    count = lost = cut = 0
    kept: dict[str, int] = {}
    for text in texts:
        for word in pattern.findall(text):
            count += 1
            if not word.isascii():
                if word not in kept:
                    kept[word] = sum(map(len, tokens(word)))
                lost += not kept[word]
                cut += 0 < kept[word] < len(word)
    return Shares(lost / max(1, count), cut / max(1, count))


def check_words(
    place: str, what: str, texts: Iterable[str], tokens: Tokens, expected: str, pattern: re.Pattern[str] = WORDS
) -> None:
    """Raise InputError if the tokenizer drops or cuts too many words in ``texts``; warn if it cuts more than MOST_LOST.

    ``what``: a plural noun for the texts. ``expected``: the alternative that the error suggests, as a noun phrase.
    """
    found = shares(texts, tokens, pattern)
    if found.refused:
        raise InputError(place, f"{what} with {found}", f"at most {MOST_LOST:.0%} and {MOST_CUT:.0%}, or {expected}")
    if found.cut > MOST_LOST:
        line = f"{place}: {what} with {found.cut:.0%} of the words cut at letters that the tokenizer drops, such as é"
        log.warning("%s", line)
        tell(f"ragrelay: warning: {line}")


def check_known(place: str, what: str, texts: Iterable[str], tokenizer: Any) -> None:
    """Raise InputError if a model's ``tokenizer`` maps too many words in ``texts`` to its unknown token."""
    unknown = tokenizer.unk_token_id

    def tokens(word: str) -> list[str]:
        return [] if unknown in tokenizer(word, add_special_tokens=False)["input_ids"] else [word]

    check_words(place, what, texts, tokens, "a model whose tokenizer knows the language", MODEL_WORDS)


def count_cut(queries: Sequence[str], tokens: Tokens) -> list[dict[str, Any]]:
    """Count the queries with words that the tokenizer cuts (keys what, count). Returns [] unless many words are cut."""
    if shares(queries, tokens).cut <= MOST_LOST:
        return []
    count = sum(shares([query], tokens).cut > 0 for query in queries)
    return [{"what": "queries with a word that the tokenizer cuts at letters such as é", "count": count}]


def sampled(collection: Collection) -> Iterator[str]:
    """Yield the texts of the collection's first SAMPLE passages."""
    return (passage["text"] for passage in islice(collection.passages(), SAMPLE))


def between_blanks(word: str) -> list[str]:
    """Return the word as a single token, or no tokens if the word's script doesn't separate words with spaces."""
    return [] if UNSPACED.fullmatch(word) else [word]
