"""Export the scores of a generator's answers as AutoJudge records, which a scorer of kind `file` can read."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from ragrelay.annexes.exchange.export import write_json_lines
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.names import NO_ORDERING, ZEROSHOT
from ragrelay.scoring.score_files import run_name


def export_scores(scores: KeyedFiles, generator: str, output: str | Path) -> None:
    """Write each score in the tables ``scores`` (keyed by scorer and retriever) as an AutoJudge record.

    ``run_id`` names the cell, such as `qwen.bm25.descending.k3.seed1`; ``measure`` joins the names of the scorer and
    the reference set with a dot. Zero-shot answers' scores against unseen references are left out, because there is a
    different score for each context.
    """
    write_json_lines(_records(scores, generator), output)


def _records(scores: KeyedFiles, generator: str) -> Iterator[dict[str, object]]:
    for key, path in scores.keyed:
        table = pl.read_parquet(path, columns=["qid", "ordering", "k", "seed", "references", "f1"]).drop_nulls("f1")
        own = table.filter((pl.col("ordering") == NO_ORDERING) == (key["retriever"] == ZEROSHOT))
        for row in own.sort("references", "ordering", "k", "seed", "qid").iter_rows(named=True):
            run = run_name({**row, "generator": generator, "retriever": key["retriever"]})
            measure = f"{key['scorer']}.{row['references']}"
            yield {"run_id": run, "topic_id": row["qid"], "measure": measure, "value": row["f1"]}
