"""Read answers from a table, rather than from cells, in the form that fill_store expects."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ragrelay.scoring.answer_cells import answer_hashes


class TableAnswers:
    """The answers in the file ``path`` to the queries in ``qids``.

    ``keys``: the file's ``columns`` (including qid) and answer_hash, without missing answers (null).
    """

    def __init__(self, path: str | Path, qids: Sequence[str], columns: Sequence[str]) -> None:
        table = pl.read_parquet(path, columns=[*columns, "answer"], glob=False)
        table = table.filter(pl.col("qid").is_in(list(qids))).drop_nulls("answer")
        self._table = table.with_columns(answer_hashes(table["answer"]))
        self.keys = self._table.drop("answer")

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """Yield (answer_hash, answer) for each row of ``keys``, whose hashes must be unique."""
        texts = self._table.unique("answer_hash", keep="first", maintain_order=True).select("answer_hash", "answer")
        yield from keys.select("answer_hash").join(texts, on="answer_hash", maintain_order="left").iter_rows()
