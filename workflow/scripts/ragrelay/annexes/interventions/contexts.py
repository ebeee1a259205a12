"""Draw the passages to insert, and build the changed contexts of each intervention."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from ragrelay.annexes.interventions.columns import CHANGE
from ragrelay.annexes.interventions.intervention import (
    INTERVENTION_KINDS,
    Exchange,
    Given,
    Intervention,
    JudgedPassage,
    order_of,
)
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, Column, number, schema_of, text
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.collection.base import Collection
from ragrelay.scoring.near_copies import NearCopies

COLUMNS = {
    **CHANGE,
    "docno": text("id of the inserted, removed or repeated passage; empty for the unchanged context"),
    "label": LABEL._replace(about="the passage's label in the judgements; empty if the passage is unjudged"),
    "docnos": Column(pl.List(pl.String), "ids of the context's passages, in prompt order"),
    "value": number("value of the retrieval measure for the changed context; empty if the measure is undefined"),
}
SCHEMA = schema_of(COLUMNS)
TEXT_COLUMNS = {"qid": QID, "docno": DOCNO, "text": text("the passage's text")}
ALIKE = 0.2
"""Two passages have similar lengths if they differ by at most this share of the relevant passage's words."""
FEWER, NO_RELEVANT, NO_OTHER = (
    "with fewer than k passages",
    "without a relevant passage that the context lacks",
    "without a judged non-relevant passage that the context lacks",
)


class Changed(NamedTuple):
    """Changed contexts (columns COLUMNS), inserted texts (columns TEXT_COLUMNS), and counts of queries left out."""

    contexts: pl.DataFrame
    texts: pl.DataFrame
    left_out: list[dict[str, Any]]


class Drawing:
    """Passages that may be inserted for a query: judged, not empty, and not near copies of the context's passages."""

    def __init__(self, qid: str, judged: Sequence[JudgedPassage], near_copy: float | None) -> None:
        self.qid, self.judged, self._copies = qid, judged, NearCopies(near_copy)

    def pairs(
        self,
        kind: Intervention,
        context: Sequence[JudgedPassage],
        deeper: Sequence[JudgedPassage],
        lowest: int,
        draws: int,
    ) -> list[Exchange] | str:
        """Draw up to ``draws`` pairs of a relevant and a non-relevant passage, or return the reason why there are none.

        Relevant passages are drawn in random order, which depends only on the seed and the query. Passages in
        ``deeper`` (the rest of the largest context) are drawn last, so that the pairs are the same for every k if
        possible. Each relevant passage is paired with a non-relevant passage of similar length.
        """
        below = {passage.docno for passage in deeper}
        order = list(self.judged)  # shuffled as a whole, so that a passage missing at one k doesn't move any other
        random.Random(int(text_hash(f"{kind.seed}\t{self.qid}")[:16], 16)).shuffle(order)
        free = [one for one in order if not any(self._near(one, shown) for shown in context)]
        free.sort(key=lambda one: one.docno in below)
        relevant = [one for one in free if one.label is not None and one.label >= lowest]
        others = [one for one in free if one.label is not None and one.label <= kind.max_label]
        pairs: list[Exchange] = []
        for one in relevant:
            apart = [other for other in others if not self._near(one, other)]
            if apart and len(pairs) < draws:
                other = _alike(one, apart)
                pairs.append(Exchange(one, other))
                others.remove(other)
        return pairs or (NO_RELEVANT if not relevant else NO_OTHER)

    def _near(self, one: JudgedPassage, other: JudgedPassage) -> bool:
        return self._copies.are_near(one.docno, one.text, other.docno, other.text)


def _alike(relevant: JudgedPassage, others: Sequence[JudgedPassage]) -> JudgedPassage:
    """Return the first of ``others`` with a similar length (ALIKE), or otherwise the one with the nearest length."""
    words = len(relevant.text.split())
    apart = [abs(len(other.text.split()) - words) for other in others]
    near = [other for other, words_apart in zip(others, apart, strict=True) if words_apart <= ALIKE * words]
    return near[0] if near else others[apart.index(min(apart))]


def change_contexts(
    definitions: Mapping[str, Mapping[str, Any]],
    queries: pl.DataFrame,
    contexts: pl.DataFrame,
    qrels: pl.DataFrame,
    collection: Collection,
    ks: Sequence[int],
    orderings: Sequence[str],
    measure: str,
    lowest: int,
    near_copy: float | None,
    own_passages: bool = True,
) -> Changed:
    """Change a retriever's contexts. ``definitions``: the interventions on this retriever's contexts, keyed by name.

    ``contexts`` has columns retrieval.contexts.COLUMNS. ``lowest``: the lowest label of a relevant passage. The column
    ``value`` contains ``measure`` at k, computed for the changed context. If ``own_passages`` is false, a passage with
    the same id as the query is never inserted.
    """
    kinds = {name: INTERVENTION_KINDS.of(definition) for name, definition in definitions.items()}
    ranked = _by_query(contexts.sort("rank"))
    wanted = qrels if any(kind.needs_pairs for kind in kinds.values()) else qrels.clear()
    wanted = wanted if own_passages else wanted.filter(pl.col("docno") != pl.col("qid"))
    found = collection.texts(wanted["docno"].unique().sort().to_list())
    judged: dict[str, list[JudgedPassage]] = {}
    for qid, docno, label in wanted.sort("qid", "docno").select("qid", "docno", "label").iter_rows():
        if docno in found:
            judged.setdefault(qid, []).append(JudgedPassage(docno, found[docno], label))
    rows: list[tuple[Any, ...]] = []
    texts: dict[tuple[str, str], str] = {}
    reasons: Counter[tuple[str, int, str]] = Counter()
    ranks: dict[int, list[tuple[str, str, int]]] = {}
    for qid in queries["qid"]:
        drawing = Drawing(qid, judged.get(qid, ()), near_copy)
        for name, kind, k in _each(kinds, ks, orderings):
            made = _changes(kind, k, ranked.get(qid, ()), drawing, (ks, orderings, lowest))
            if isinstance(made, str):
                reasons[name, k, made] += 1
                continue
            for change in made:
                if kind.measured:
                    ranking = ranks.setdefault(k, [])
                    ranking += [(str(len(rows)), docno, rank) for rank, docno in enumerate(change.ranked, 1)]
                rows.append((name, k, qid, *change[:5], list(change.docnos), None))
                if kind.needs_pairs and change.docno is not None:
                    texts[qid, change.docno] = found[change.docno]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return Changed(
        _measured(table, ranks, qrels, measure, lowest),
        pl.DataFrame([(*key, value) for key, value in texts.items()], schema=schema_of(TEXT_COLUMNS), orient="row"),
        [
            {"what": f"{name}, k = {k}: queries {reason}", "count": reasons[name, k, reason]}
            for name, k, reason in sorted(reasons)
        ],
    )


def _each(
    kinds: Mapping[str, Intervention], ks: Sequence[int], orderings: Sequence[str]
) -> Iterator[tuple[str, Intervention, int]]:
    for name, kind in kinds.items():
        yield from ((name, kind, k) for k in kind.depths(ks, orderings))


def _changes(
    kind: Intervention,
    k: int,
    passages: Sequence[JudgedPassage],
    drawing: Drawing,
    of_grid: tuple[Sequence[int], Sequence[str], int],
) -> Any:
    ks, orderings, lowest = of_grid
    if len(passages) < k:
        return FEWER
    context, pairs = passages[:k], []
    if kind.needs_pairs:
        deepest = max(kind.depths(ks, orderings))
        drawn = drawing.pairs(kind, context, passages[k:deepest], lowest, getattr(kind, "draws", 1))
        if isinstance(drawn, str):
            return drawn
        pairs = drawn
    order = order_of(k, kind.laid_out(orderings), drawing.qid)
    return kind.changes(Given(context, order, pairs, (lowest, kind.max_label)))


def _by_query(contexts: pl.DataFrame) -> dict[str, list[JudgedPassage]]:
    found: dict[str, list[JudgedPassage]] = {}
    for qid, *passage in contexts.select("qid", "docno", "text", "label").iter_rows():
        found.setdefault(qid, []).append(JudgedPassage(*passage))
    return found


def _measured(
    table: pl.DataFrame, ranks: Mapping[int, Sequence[tuple[str, str, int]]], qrels: pl.DataFrame, measure: str,
    lowest: int,
) -> pl.DataFrame:  # fmt: skip
    """Fill in ``value``. Every changed context is measured as a separate query, with its query's judgements."""
    numbered = table.with_row_index("row").with_columns(pl.col("row").cast(pl.String))
    values = [pl.DataFrame(schema={"row": pl.String, "measured": pl.Float64})]
    for k, ranking in ranks.items():
        run = pl.DataFrame(ranking, schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64}, orient="row")
        judged = (
            numbered.filter(pl.col("row").is_in(run["qid"].unique().implode()))
            .select("row", "qid")
            .join(qrels, on="qid")
            .select(qid="row", docno="docno", label="label")
        )
        measured = measure_ranking(run, judged, [measure], [k], lowest)
        values.append(measured.select(row="qid", measured="value"))
    joined = numbered.join(pl.concat(values), on="row", how="left", maintain_order="left")
    return joined.with_columns(value=pl.col("measured")).select(*SCHEMA)
