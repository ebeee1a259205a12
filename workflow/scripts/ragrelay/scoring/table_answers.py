"""Read answers for scoring from a single table, instead of from a file per cell."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ragrelay.scoring.answer_cells import answer_hashes


class TableAnswers:
    """The answers to the queries in ``qids``, read from a table (the file ``path``).

    ``keys`` has a row per non-null answer; the columns are ``columns`` (which must include qid) and answer_hash.
    """

    def __init__(self, path: str | Path, qids: Sequence[str], columns: Sequence[str]) -> None:
        table = pl.read_parquet(path, columns=[*columns, "answer"], glob=False)
        table = table.filter(pl.col("qid").is_in(list(qids))).drop_nulls("answer")
        self._table = table.with_columns(answer_hashes(table["answer"]))
        self.keys = self._table.drop("answer")

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """Return pairs (answer_hash, answer) for the answers in ``keys``. Hashes must be unique."""
        texts = self._table.unique("answer_hash", keep="first", maintain_order=True).select("answer_hash", "answer")
        yield from keys.select("answer_hash").join(texts, on="answer_hash", maintain_order="left").iter_rows()
