"""Find names in a text, using a spaCy model or, if none is installed, by looking for capitalised words."""

import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ragrelay.base.errors import InputError

CAPITALISED = "capitalised"
AUTO = "auto"
MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
NAME = re.compile(r"[A-Z][\w’'-]*(?:(?: (?:of|of the|de|van|von))? [A-Z][\w’'-]*)*|\d[\d.,:]*\d|\d")
START = re.compile(r"(?:^|[.!?:]\s+|[\"“])$")
WORD = re.compile(r"\w+")
LONGEST = 100
"""Maximum length, in characters, of a name that is a single word."""

Detector = Callable[[Sequence[str]], list[set[str]]]


def detector(wanted: str) -> tuple[str, Detector]:
    """Return an entity detector's name, and a function that returns the lower-cased entities in each text.

    ``wanted``: the name of a spaCy model, ``capitalised``, or ``auto``. ``auto`` selects the first installed model in
    MODELS, or ``capitalised`` if none is installed. Raises InputError if the requested model isn't installed.
    """
    name = wanted
    if wanted == AUTO:
        spacy = importlib.util.find_spec("spacy") is not None
        name = next((model for model in MODELS if spacy and importlib.util.find_spec(model)), CAPITALISED)
    if name == CAPITALISED:
        return name, lambda texts: [capitalised(text) for text in texts]
    return _spacy_model(name)


def capitalised(text: str) -> set[str]:
    """Find numbers and sequences of capitalised words, as a substitute for a trained model.

    A single word at the start of a sentence is included only if it recurs in the text. Lower-case names are missed.
    """
    entities: set[str] = set()
    doubtful: set[str] = set()
    end = 0
    for match in NAME.finditer(text):
        name = match[0].lower()
        begins = START.search(text, end, match.start()) is not None  # START's characters never end a name
        (doubtful if begins and " " not in name and not name[0].isdigit() else entities).add(name)
        end = match.end()
    return entities | _recurring(doubtful, text.lower())


def _recurring(names: set[str], text: str) -> set[str]:
    r"""Return the ``names`` (each begins with a letter) that occur more than once in ``text``, at word boundaries (\b).

    A name with several words, such as jean-luc or o'neill, is searched for among runs of the same number of words, in
    one pass per number.
    """
    places = [match.span() for match in WORD.finditer(text)]
    forms = {(len(WORD.findall(name)), WORD.match(name[-1]) is not None) for name in names if len(name) <= LONGEST}
    recurring: set[str] = set()
    for words, to_end in forms:
        ends = [end for _, end in places[words - 1 :]] if to_end else [start for start, _ in places[words:]]
        runs = (text[start:end] for (start, _), end in zip(places, ends, strict=False) if end - start <= LONGEST)
        recurring |= {name for name, times in Counter(run for run in runs if run in names).items() if times > 1}
    return recurring


def overlap(claim: set[str], evidence: set[str]) -> float | None:
    """Return the share of the claim's entities that occur in the evidence, or None if the claim has no entities."""
    return len(claim & evidence) / len(claim) if claim else None


def _spacy_model(name: str) -> tuple[str, Detector]:
    try:
        # Imported by name, because the environments don't have it.
        model: Any = importlib.import_module("spacy").load(name)
    except (ImportError, OSError):
        place = "config key 'acu.entities'"
        raise InputError(
            place, f"{name!r}, which is not installed", f"{AUTO}, {CAPITALISED} or an installed spaCy model"
        ) from None

    def find(texts: Sequence[str]) -> list[set[str]]:
        return [{entity.text.lower() for entity in document.ents} for document in model.pipe(texts)]

    return f"{name} {model.meta.get('version', '')}".strip(), find
