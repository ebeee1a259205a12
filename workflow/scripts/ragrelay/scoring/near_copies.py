"""Find the references of a query that a passage shows, by its docno or as near copies.

Judged pools are full of near copies, so an answer can copy a reference whose docno is not in its context.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ragrelay.collection.words import WORDS
from ragrelay.scoring.reference_sets import QueryReferences

N = 5
"""Words of a gram."""

Texts = Mapping[str, Mapping[str, str]]
"""Passages' texts by qid and docno."""


def grams(text: str) -> frozenset[tuple[str, ...]]:
    """Return the distinct N-grams of lower-cased words. A text with fewer words is one gram; one without has none."""
    words = WORDS.findall(text.lower())
    if len(words) < N:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(N)), strict=False))


def shown_references(query: QueryReferences, passages: Mapping[str, str], share: float | None) -> dict[str, np.ndarray]:
    """Return which references of ``query`` each of ``passages`` (docno to text) shows, by docno: (references,), bool.

    A passage shows the reference with its docno, and every reference with an overlap coefficient of grams of at least
    ``share`` (shared grams over those of the text that has fewer). None: only docnos count.
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
    for docno, text in passages.items():
        shown[docno] = docnos == docno
        if share is not None:
            own = grams(text)
            shared = Counter(place for gram in own for place in places.get(gram, ()))
            near = [place for place, count in shared.items() if count >= share * min(len(own), sizes[place])]
            shown[docno][near] = True
    return shown


class PassageTexts:
    """The texts of context passages, read for some queries at a time from ``contexts`` (files: qid, docno, text)."""

    def __init__(self, contexts: Sequence[str | Path]) -> None:
        self.contexts = [str(path) for path in contexts]

    def of(self, qids: Sequence[str]) -> Texts:
        """Return texts by qid and docno; a query without passages has an empty mapping."""
        texts: dict[str, dict[str, str]] = {qid: {} for qid in qids}
        if self.contexts:
            rows = pl.scan_parquet(self.contexts, glob=False).select("qid", "docno", "text")
            for qid, docno, text in rows.filter(pl.col("qid").is_in(list(qids))).collect().iter_rows():
                texts[qid][docno] = text
        return texts
