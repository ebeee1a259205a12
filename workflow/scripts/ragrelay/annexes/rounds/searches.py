"""Run a round's queries, and select the passages that haven't been shown before."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.annexes.rounds.queries import STATE
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import QID, SEED, Column, integer, number, schema_of
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.base.vocabulary.orderings import ordered
from ragrelay.collection.base import Collection
from ragrelay.retrieval.build import search
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, RunTask
from ragrelay.scoring.near_copies import NearCopies

COLUMNS = {
    "qid": QID,
    "seed": SEED,
    "docnos": Column(pl.List(pl.String), "ids of the new passages, in prompt order"),
    "found": integer("number of passages with text among the first k in the retriever's ranking", "passages"),
    "repeated": integer("number of found passages that were already shown or are near copies of shown "
                        "passages", "passages"),
    "unjudged": integer("number of new passages without a judgement; unjudged passages count as not relevant",
                        "passages"),
    "value": number("value of the measure for the found passages, counting repeated passages as not relevant; empty "
        "if the measure is undefined for the query"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)


class Searching(NamedTuple):
    """The data needed for a search with a retriever and with all retrievers on which it builds."""

    collection: Collection
    definitions: Mapping[str, Mapping[str, Any]]
    """The retrievers' definitions, keyed by name."""
    indexes: Mapping[str, Path]
    """The folders of the indexes, keyed by retriever."""
    threads: int = 1
    drop_identical_ids: bool = False

    def run(self, name: str, queries: pl.DataFrame) -> pl.DataFrame:
        """Run a retriever after the retrievers on which it builds, and return the run (qid, docno, rank, score)."""
        definition = self.definitions[name]
        depth = pl.col("rank") <= definition["depth"] if "depth" in definition else pl.lit(True)
        stages = [self.run(stage, queries).filter(depth) for _, stage in RETRIEVER_KINDS.of(definition).stages()]
        task = RunTask(
            queries, pl.DataFrame(), self.collection, self.indexes.get(name), stages, self.threads, name=name
        )
        return search(task, definition)


def search_round(
    searching: Searching,
    retriever: str,
    queries: pl.DataFrame,
    qrels: pl.DataFrame,
    k: int,
    ordering: str,
    measure: str,
    lowest: int,
    near_copy: float | None,
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Search with ``queries`` (columns queries.COLUMNS); returns COLUMNS, and the shown passages' texts by docno.

    Passages already shown, and their near copies, are left out of the retriever's first ``k`` passages with text. When
    the measure is computed, these passages keep their ranks but are treated as not relevant.
    """
    texts_of = queries.select("query").unique(maintain_order=True).with_row_index("place")
    asked = texts_of.select(pl.col("place").cast(pl.String).alias("qid"), "query")
    run = searching.run(retriever, asked)
    ranked = dict(run.group_by("qid", maintain_order=True).agg("docno").iter_rows())
    places = dict(texts_of.select("query", pl.col("place").cast(pl.String)).iter_rows())
    known = {docno for shown in queries["shown"] for docno in shown}
    texts = _texts(searching.collection, known, ranked.values(), 2 * k + 20)
    if lacking := sorted(known - texts.keys()):
        raise InputError(
            "passages shown in the previous round", f"no text for {lacking[0]!r}", "a text for each passage"
        )
    rows, ranking = [], list[tuple[str, str, int]]()
    copies = NearCopies(near_copy)
    for row, (qid, seed, query, shown) in enumerate(queries.select(*STATE, "query", "shown").iter_rows()):
        there = [docno for docno in ranked.get(places[query], ()) if docno in texts]
        if searching.drop_identical_ids:
            there = [docno for docno in there if docno != qid]
        top = there[:k]
        new = [
            docno for docno in top
            if not any(copies.are_near(docno, texts[docno], other, texts[other]) for other in shown)
        ]  # fmt: skip
        ranking += [(str(row), docno if docno in new else "", rank) for rank, docno in enumerate(top, 1)]
        rows.append((qid, seed, ordered(new, ordering, key=qid), len(top), len(top) - len(new)))
    table = pl.DataFrame(rows, schema={n: SCHEMA[n] for n in (*STATE, "docnos", "found", "repeated")}, orient="row")
    used = known | {docno for docnos in table["docnos"] for docno in docnos}
    return _measured(table, ranking, qrels, measure, k, lowest), {docno: texts[docno] for docno in used}


def _texts(collection: Collection, known: Iterable[str], ranked: Iterable[Sequence[str]], depth: int) -> dict[str, str]:
    """Return the texts of the passages in ``known`` and of each ranking's first ``depth`` passages, where available."""
    return collection.texts(sorted({*known, *(docno for docnos in ranked for docno in docnos[:depth])}))


def _measured(
    table: pl.DataFrame, ranking: Sequence[tuple[str, str, int]], qrels: pl.DataFrame, measure: str, k: int, lowest: int
) -> pl.DataFrame:
    """Add ``value`` and ``unjudged``: each state is measured as a separate query with its question's judgements."""
    numbered = table.with_row_index("row").with_columns(pl.col("row").cast(pl.String))
    run = pl.DataFrame(ranking, schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64}, orient="row")
    # A list may repeat several passages: each gets an id without a judgement.
    run = run.with_columns(pl.when(docno="").then(pl.format("repeated {}", "rank")).otherwise("docno").alias("docno"))
    judged = numbered.select("row", "qid").join(qrels, on="qid").select(qid="row", docno="docno", label="label")
    measured = measure_ranking(run, judged, [measure], [k], lowest, numbered["row"].to_list())
    values = measured.select(row="qid", value="value")
    found = numbered.select("row", "qid", "docnos").explode("docnos").drop_nulls("docnos")
    unjudged = found.join(qrels, left_on=["qid", "docnos"], right_on=["qid", "docno"], how="anti").group_by("row").len()
    counts = unjudged.select("row", unjudged=pl.col("len").cast(pl.Int64))
    return (
        numbered.join(values, on="row", how="left", maintain_order="left")
        .join(counts, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("unjudged").fill_null(0))
        .select(*SCHEMA)
    )
