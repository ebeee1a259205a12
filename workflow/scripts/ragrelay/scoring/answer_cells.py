"""The answers of a retriever's cells: read, checked against the prompts they were made for, hashed."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from ragrelay.errors import InputError
from ragrelay.hashing import text_hash

log = logging.getLogger(__name__)

Cell = tuple[str, int, int]
ZEROSHOT = ("none", 0)
COLUMNS = ["qid", "ordering", "k", "seed"]


class AnswerCells:
    """Answer files by cell (ordering, k, seed), with ``contexts``: (ordering, k) to qid to the prompt's docnos.

    ``keys``: one row per answer to a query in ``qids`` (qid, ordering, k, seed, answer_hash). Texts are not held;
    ``texts`` reads them. Raises InputError where an answer is missing (null) or twice, has another seed than its cell,
    or was made for another prompt than the cell's.
    """

    def __init__(
        self, answers: Mapping[Cell, Path], prompts: Mapping[tuple[str, int], Path], qids: Iterable[str]
    ) -> None:
        self.answers = dict(answers)
        self.qids = list(qids)
        self.contexts: dict[tuple[str, int], dict[str, list[str]]] = {}
        prompt_ids: dict[tuple[str, int], pl.DataFrame] = {}
        for context, path in prompts.items():
            table = pl.read_parquet(path, columns=["qid", "docnos", "prompt_id"], glob=False)
            self.contexts[context] = dict(zip(table["qid"], table["docnos"].to_list(), strict=True))
            prompt_ids[context] = table.select("qid", asked="prompt_id")
        self._compare_orderings()
        keys = [self._keys(cell, prompt_ids.get(cell[:2])) for cell in sorted(self.answers)]
        self.keys = pl.concat([pl.DataFrame(schema=_KEYS), *keys])

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """(answer_hash, answer) of a selection of ``keys``, which names every hash once."""
        for cell, wanted in keys.group_by("ordering", "k", "seed", maintain_order=True):
            scan = pl.scan_parquet(self.answers[cell], glob=False).select("qid", "answer")
            yield from scan.join(wanted.lazy(), on="qid").select("answer_hash", "answer").collect().iter_rows()

    def _compare_orderings(self) -> None:
        """Count queries whose orderings of one k show different passages (cut to fit a window): worth knowing."""
        for k in sorted({k for _, k in self.contexts}):
            sets: dict[str, set[frozenset[str]]] = {}
            for context, docnos in self.contexts.items():
                if context[1] == k:
                    for qid, shown in docnos.items():
                        sets.setdefault(qid, set()).add(frozenset(shown))
            if several := sum(len(found) > 1 for found in sets.values()):
                log.warning("k %d: orderings of %d queries differ in passages; unseen is what none shows", k, several)

    def _keys(self, cell: Cell, asked: pl.DataFrame | None) -> pl.DataFrame:
        path = self.answers[cell]
        ordering, k, seed = cell
        if asked is None and cell[:2] != ZEROSHOT:
            raise InputError(path, "answers without their prompts", f"the prompts of {ordering}, k {k}")
        table = pl.read_parquet(path, columns=["qid", "prompt_id", "seed", "answer"], glob=False)
        if (table["seed"] != seed).any():
            raise InputError(path, f"answers with seeds {sorted(set(table['seed']))}", f"those of seed {seed}")
        twice = table["qid"].filter(table["qid"].is_duplicated())
        if len(twice):
            raise InputError(path, f"query {twice[0]} twice", "one answer per query")
        if asked is not None:
            # Files of two cells that changed places would give plausible numbers, so make sure.
            other = table.join(asked, on="qid", how="left").filter(pl.col("prompt_id").ne_missing(pl.col("asked")))
            if len(other):
                found = f"query {other['qid'][0]} answered for another prompt"
                raise InputError(path, found, f"answers to the prompts of {ordering}, k {k}")
        table = table.filter(pl.col("qid").is_in(self.qids))
        unanswered = table.filter(pl.col("answer").is_null())["qid"]
        if len(unanswered):
            raise InputError(path, f"no answer for query {unanswered[0]}", "a text, if only an empty one")
        hashes = pl.Series([text_hash(answer) for answer in table["answer"]], dtype=pl.String)
        cell_columns = {"ordering": pl.lit(ordering), "k": pl.lit(k, pl.Int64), "seed": pl.lit(seed, pl.Int64)}
        return table.select("qid").with_columns(**cell_columns, answer_hash=hashes)


_KEYS = {"qid": pl.String, "ordering": pl.String, "k": pl.Int64, "seed": pl.Int64, "answer_hash": pl.String}
