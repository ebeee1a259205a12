"""Read answer files, many at once, with the keys in their paths and with optional columns."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ragrelay.io.keyed_files import KeyedFiles
from ragrelay.vocabulary.columns import CITED_SENTENCES

CONTEXT = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64}


def read_answers(files: KeyedFiles, columns: Sequence[str]) -> pl.DataFrame:
    """``columns`` of files of cells, such as answers or prompts, after retriever, ordering and k from their paths."""
    frames = [
        pl.read_parquet(path, columns=list(columns)).select(
            *(pl.lit(key[name], kind).alias(name) for name, kind in CONTEXT.items()), *columns
        )
        for key, path in files.keyed
    ]
    return pl.concat(frames)


def mean_lengths(files: KeyedFiles) -> pl.DataFrame:
    """retriever, qid, tokens of files of one cell of some retrievers: the mean over seeds; null where not known."""
    answers = read_answers(files, ["qid", "answer_tokens"])
    return answers.group_by("retriever", "qid", maintain_order=True).agg(tokens=pl.col("answer_tokens").mean())


def read_cited_sentences(path: Path) -> pl.DataFrame:
    """qid and cited_sentences of an answer file, null where the file doesn't have the column."""
    kept = "cited_sentences" in pl.read_parquet_schema(path)
    table = pl.read_parquet(path, columns=["qid", *(["cited_sentences"] if kept else [])], glob=False)
    return table if kept else table.with_columns(cited_sentences=pl.lit(None, CITED_SENTENCES.dtype))
