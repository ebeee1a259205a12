"""What the seeding needs to know of the vocabulary: fixed parts, rarity and word stems."""

from __future__ import annotations

import math
import re
from collections import Counter

import torch
from make_tokenizer import BOS, CONTEXTS, CUE, END_CONTEXT, QUESTION, STOP

PARTS = {"contexts": CONTEXTS, "cue": CUE, "question": QUESTION, "stop": STOP,
         "end": END_CONTEXT, "bos": BOS}  # fmt: skip


def rarity(ids: list[list[int]], size: int) -> torch.Tensor:
    """Inverse document frequency of each token over the passages, mapped to 0..1. Shape (V,)."""
    found = Counter(token for passage in ids for token in set(passage))
    logs = torch.tensor([math.log(len(ids) / (found[i] + 1)) for i in range(size)])
    return ((logs - 2.0) / 5.0).clamp(0.0, 1.0)


def stem(word: str) -> str:
    """A crude English stem: inflections and a few derivations off, at least four letters left."""
    for ending in ("ations", "ation", "ings", "ing", "ions", "ion", "edly", "ed", "ers", "er",
                   "ies", "es", "s", "ly", "al", "e", "y"):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def stems(pieces: list[str]) -> list[int]:
    """A class for each token of letters only, shared by the forms of a word; -1 for others.

    A word's forms with and without the space in front (byte-level mark) share a class too.
    """
    classes: dict[str, int] = {}
    found = []
    for piece in pieces:
        match = re.fullmatch("\u0120?([a-z]{3,})", piece)
        found.append(classes.setdefault(stem(match.group(1)), len(classes)) if match else -1)
    return found
