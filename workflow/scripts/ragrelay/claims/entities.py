"""Names in a text: by a spaCy model where one is installed, by capital letters otherwise."""

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from typing import Any

from ragrelay.errors import InputError

CAPITALISED = "capitalised"
AUTO = "auto"
MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
NAME = re.compile(r"[A-Z][\w’'-]*(?:(?: (?:of|of the|de|van|von))? [A-Z][\w’'-]*)*|\d[\d.,:]*\d|\d")
START = re.compile(r"(?:^|[.!?:]\s+|[\"“])$")

Detector = Callable[[Sequence[str]], list[set[str]]]


def detector(wanted: str) -> tuple[str, Detector]:
    """The name and the function that gives each text's entities, in lower case.

    ``wanted``: ``auto`` takes the first of MODELS that is installed, else ``capitalised``; or the name of a spaCy
    model. Raises InputError where that is not installed.
    """
    name = wanted
    if wanted == AUTO:
        spacy = importlib.util.find_spec("spacy") is not None
        name = next((model for model in MODELS if spacy and importlib.util.find_spec(model)), CAPITALISED)
    if name == CAPITALISED:
        return name, lambda texts: [capitalised(text) for text in texts]
    return _spacy_model(name)


def capitalised(text: str) -> set[str]:
    """Runs of capitalised words, and numbers; a single word that begins a sentence counts only if it recurs elsewhere.

    A substitute for a trained model: it misses names in lower case and takes adjectives of nations for names.
    """
    found: set[str] = set()
    doubtful: set[str] = set()
    for match in NAME.finditer(text):
        name = match[0].lower()
        begins = START.search(text[: match.start()]) is not None
        (doubtful if begins and " " not in name and not name[0].isdigit() else found).add(name)
    return found | {name for name in doubtful if len(re.findall(rf"\b{re.escape(name)}\b", text.lower())) > 1}


def overlap(claim: set[str], evidence: set[str]) -> float | None:
    """Share of the claim's entities that the evidence has; None for a claim without any."""
    return len(claim & evidence) / len(claim) if claim else None


def _spacy_model(name: str) -> tuple[str, Detector]:
    try:
        # By name, as it is no part of the environments.
        model: Any = importlib.import_module("spacy").load(name)
    except (ImportError, OSError):
        place = "config key 'acu.entities'"
        raise InputError(
            place, f"{name!r}, which is not installed", f"{AUTO}, {CAPITALISED} or a spaCy model"
        ) from None

    def find(texts: Sequence[str]) -> list[set[str]]:
        return [{entity.text.lower() for entity in document.ents} for document in model.pipe(texts)]

    return f"{name} {model.meta.get('version', '')}".strip(), find
