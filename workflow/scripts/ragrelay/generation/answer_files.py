"""Reading many answer files at once, with what each is of."""

from collections.abc import Sequence

import polars as pl

from ragrelay.io.keyed_files import KeyedFiles

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
