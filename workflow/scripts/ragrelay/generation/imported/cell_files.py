"""Write imported answers, and the passages in their contexts, in the same format as generated answers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.columns import CITED_SENTENCES, schema_of
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.orderings import ordered
from ragrelay.collection.base import Collection
from ragrelay.generation.answer_files import COLUMNS as ANSWER_COLUMNS
from ragrelay.generation.answer_files import MISSING as MISSING_ANSWERS
from ragrelay.generation.imported.imported_answers import (
    EMPTY,
    MISSING,
    WHY_MISSING,
    checked_answers,
    count_of_cell,
    counts_of_file,
    in_grid,
)
from ragrelay.generation.thought_marks import THINKING, count_unclosed
from ragrelay.prompting.layout import SCHEMA as PROMPTS
from ragrelay.retrieval.contexts import COLUMNS as PASSAGES

SEVERAL = "queries whose seeds have different passages (all of them count as the context)"
Context = tuple[str, int]


def read_answers(
    imported: Mapping[str, Any],
    names: Mapping[str, str],
    collection: Collection,
    queries: str | Path,
    prompts: Mapping[Context, Path],
    answers: Mapping[tuple[str, int, int], Path],
    found: tuple[str | Path, str | Path, str | Path] | None = None,
) -> list[dict[str, object]]:
    """Read, check and write imported answers for one retriever; return counts of unused data (`what`, `count`, `of`).

    ``imported``: the answer files and the grid's values, as returned by File.given. ``names``: the `generator` and,
    unless the answers are zero-shot, the `retriever`. ``found``: the paths of the context candidates and judgements to
    read, and of the passages to write; None for zero-shot answers. For ``prompts`` and ``answers``, see write_cells.
    """
    qids = pl.read_parquet(queries, columns=["qid"])["qid"].to_list()
    rows, places = checked_answers(**imported, generator=names["generator"], collection=collection, qids=qids)
    own = rows.filter(pl.col("retriever") == names.get("retriever", ZEROSHOT))
    placed = in_grid(own, places).filter(pl.col("qid").is_in(qids))
    begun = count_unclosed(placed["answer"], next((given.get(THINKING) for _, given in imported["files"]), None))
    # All of a generator's files get the same columns, because they are read together.
    cited = rows["cited_sentences"].is_not_null().any()
    if found is None:
        counts, _ = write_cells(own, qids, pl.DataFrame(schema=schema_of(PASSAGES)), prompts, answers, cited)
        return [*counts_of_file(rows, places, qids), *counts, *begun]
    run, qrels = (pl.read_parquet(path) for path in found[:2])
    counts, shown = write_cells(own, qids, run, prompts, answers, cited)
    write_passages(shown, run, qrels, collection, found[2])
    return [*counts, *begun]


def write_cells(
    rows: pl.DataFrame,
    qids: list[str],
    run: pl.DataFrame,
    prompts: Mapping[Context, Path],
    answers: Mapping[tuple[str, int, int], Path],
    cited: bool = False,
) -> tuple[list[dict[str, object]], dict[str, list[str]]]:
    """Write prompt and answer files for a retriever's cells; return counts (`what`, `count`, `of`) and docnos by query.

    ``rows``: the retriever's answers, each assigned to a cell. ``run``: the retriever's context candidates (qid, rank,
    docno); an answer without docnos is assumed to come from the run's first k passages. In the prompt files (keyed by
    ordering and k), all texts are null. The answer files (keyed by ordering, k and seed) have the column
    cited_sentences if ``cited`` is true; unknown values are null. Queries are in the order of ``qids``. Queries without
    a row in ``rows`` are counted but not written; null answers are counted and written.
    """
    schema = schema_of(ANSWER_COLUMNS) | ({"cited_sentences": CITED_SENTENCES.dtype} if cited else {})
    judged = rows.filter(pl.col("qid").is_in(qids))
    place = {qid: number for number, qid in enumerate(qids)}
    ranking = dict(run.sort("rank").group_by("qid", maintain_order=True).agg("docno").iter_rows())
    counts, shown = [], dict[str, list[str]]()
    for (ordering, k), path in prompts.items():
        cell = judged.filter(pl.col("ordering") == ordering, pl.col("k") == k)
        contexts = _contexts(cell, ranking, ordering, k)
        for qid, docnos in contexts.items():
            shown[qid] = list(dict.fromkeys([*shown.get(qid, []), *docnos]))
        several = cell.group_by("qid").agg(pl.col("docnos").n_unique()).filter(pl.col("docnos") > 1).height
        ids = {qid: value_hash([qid, docnos], digits=64) for qid, docnos in contexts.items()}
        known = sorted(contexts, key=place.__getitem__)
        write_parquet(
            pl.DataFrame([(qid, contexts[qid], None, None, ids[qid]) for qid in known], schema=PROMPTS, orient="row"),
            path,
        )
        if several:
            counts.append({"what": SEVERAL, "count": several, "of": {"ordering": ordering, "k": k}})
        for (*context, seed), target in answers.items():
            if context == [ordering, k]:
                seed_answers = cell.filter(pl.col("seed") == seed).select(
                    "qid", "answer", "seed", "cited_sentences", WHY_MISSING
                )
                of = {"ordering": ordering, "k": k, "seed": seed}
                whys = (MISSING_ANSWERS, THINKING, {"finish_reason": THINKING}), (EMPTY, MISSING, dict[str, str]())
                for what, reason, told in whys:
                    if missing := (seed_answers["finish_reason"] == reason).sum():
                        counts.append({"what": what, "count": missing, "of": of | told})
                in_order = sorted(seed_answers.iter_rows(named=True), key=lambda row: place[row["qid"]])
                lines = [{**row, "prompt_id": ids[row["qid"]]} for row in in_order]
                write_parquet(pl.DataFrame(lines, schema=schema), target)
                counts.append(count_of_cell(len(in_order), len(qids), ordering=ordering, k=k, seed=seed))
    return counts, shown


def _contexts(cell: pl.DataFrame, ranking: Mapping[str, list[str]], ordering: str, k: int) -> dict[str, list[str]]:
    """Return each query's docnos in prompt order: from its answers (all seeds), or else the run's first k."""
    contexts: dict[str, list[str]] = {}
    for qid, docnos in cell.sort("seed").select("qid", "docnos").iter_rows():
        if docnos is None:
            docnos = ordered(ranking.get(qid, [])[:k], ordering, key=qid) if k else []
        contexts[qid] = list(dict.fromkeys([*contexts.get(qid, []), *docnos]))
    return contexts


def write_passages(
    shown: Mapping[str, list[str]], run: pl.DataFrame, qrels: pl.DataFrame, collection: Collection, path: str | Path
) -> None:
    """Write the passages in ``run`` as context candidates, followed by those only in ``shown`` (docnos by qid).

    Passages that aren't in the run have null ranks and scores.
    """
    pairs = pl.DataFrame(
        [(qid, docno) for qid, docnos in shown.items() for docno in docnos],
        schema={"qid": pl.String, "docno": pl.String},
        orient="row",
    )
    others = pairs.join(run, on=["qid", "docno"], how="anti", maintain_order="left")
    texts = collection.texts(others["docno"].unique().to_list())
    added = others.join(qrels, on=["qid", "docno"], how="left", maintain_order="left").with_columns(
        rank=pl.lit(None, pl.Int64),
        score=pl.lit(None, pl.Float64),
        text=pl.col("docno").replace_strict(texts, default=None, return_dtype=pl.String),
    )
    write_parquet(pl.concat([run.select(*PASSAGES), added.select(*PASSAGES)]), path)
