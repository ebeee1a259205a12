"""Find references that a context reveals: the passages in the context, and near copies of these passages.

Pools of judged passages contain many near copies, so an answer can copy a reference even if the reference's docno isn't
in the context.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from ragrelay.base.io.characters import plain
from ragrelay.collection.words import WORDS
from ragrelay.scoring.reference_sets import QueryReferences

N = 5
"""Number of words per n-gram."""

Shown = str | tuple[str, int]
"""Identifies a query's passage: by docno, or by docno and k if a processor wrote its text for contexts of k
passages."""
T = TypeVar("T")
K = TypeVar("K", str, Shown)
Texts = Mapping[str, Mapping[Shown, str]]
"""Passage texts, keyed by qid, then by Shown."""


def of_context(values: Mapping[Shown, T], docno: str, k: int) -> T:
    """Return the value under the key (docno, k) or, failing that, docno. ``k``: number of passages in the context."""
    return values[docno, k] if (docno, k) in values else values[docno]


def grams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the distinct 5-grams of lower-case words, or a single n-gram if the text has 1 to 4 words."""
    words = WORDS.findall(plain(text).lower())
    if len(words) < N:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(N)), strict=False))


def shown_references(query: QueryReferences, passages: Mapping[K, str], share: float | None) -> dict[K, np.ndarray]:
    """Find the references that each passage reveals. Return a bool array (references,) for each passage.

    A passage reveals the reference with the passage's docno, and every reference that is a near copy of the passage. A
    near copy shares at least ``share`` of the shorter text's n-grams. If ``share`` is None, only docnos are compared.
    """
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    sizes: list[int] = []
    for place, text in enumerate(query.texts if share is not None else ()):
        text_grams = grams(text)
        sizes.append(len(text_grams))
        for gram in text_grams:
            places[gram].append(place)
    docnos = np.array(query.docnos, dtype=object)
    shown = {}
    for passage, text in passages.items():
        shown[passage] = docnos == (passage if isinstance(passage, str) else passage[0])
        if share is not None:
            own = grams(text)
            shared = Counter(place for gram in own for place in places.get(gram, ()))
            near = [place for place, count in shared.items() if count >= share * min(len(own), sizes[place])]
            shown[passage][near] = True
    return shown


class NearCopies:
    """A test for near copies: two passages that share at least ``share`` of the shorter passage's n-grams."""

    def __init__(self, share: float | None) -> None:
        self.share = share
        self._grams: dict[str, frozenset[tuple[str, ...]]] = {}

    def are_near(self, docno: str, text: str, other: str, other_text: str) -> bool:
        """Return whether two passages have the same docno or, unless ``share`` is None, are near copies."""
        if docno == other or self.share is None:
            return docno == other
        first, second = self._of(docno, text), self._of(other, other_text)
        least = min(len(first), len(second))
        return least > 0 and len(first & second) >= self.share * least

    def _of(self, docno: str, text: str) -> frozenset[tuple[str, ...]]:
        if docno not in self._grams:
            self._grams[docno] = grams(text)
        return self._grams[docno]


class PassageTexts:
    """An object that reads the texts of passages in contexts. ``contexts``: the contexts' files.

    Texts are read as shown in the prompts or, with ``original``, as they were before processing.
    """

    def __init__(self, contexts: Sequence[str | Path], original: bool = False) -> None:
        self.contexts = [str(path) for path in contexts]
        self.original = original

    def of(self, qids: Sequence[str]) -> Texts:
        """Read the texts of all passages for ``qids``, keyed by qid, then by passage (Shown)."""
        texts: dict[str, dict[Shown, str]] = {qid: {} for qid in qids}
        for path in self.contexts:
            rows = pl.scan_parquet(path, glob=False).filter(pl.col("qid").is_in(list(qids)))
            if not self.original and "shown" in pl.read_parquet_schema(path):
                of_k = rows.select("qid", "docno", "shown").explode("shown", empty_as_null=False).unnest("shown")
                for qid, docno, k, text in of_k.select("qid", "docno", "k", "text").collect().iter_rows():
                    texts[qid][docno, k] = text
            else:
                for qid, docno, text in rows.select("qid", "docno", "text").collect().iter_rows():
                    texts[qid][docno] = text
        return texts
