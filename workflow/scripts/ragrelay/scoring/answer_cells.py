"""Read and hash the answers in a retriever's cells, and check that they match the cells' prompts."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import text_hash
from ragrelay.base.vocabulary.names import NO_ORDERING
from ragrelay.generation.answer_files import read_cited_sentences

log = logging.getLogger(__name__)

Cell = tuple[str, int, int]
ZEROSHOT_CONTEXT = (NO_ORDERING, 0)
COLUMNS = ["qid", "ordering", "k", "seed"]
# Number of files to read at a time, because their texts are held in memory.
FILES_AT_ONCE = 50


class AnswerCells:
    """A retriever's answers, read from files by cell (ordering, k, seed).

    ``keys`` (qid, ordering, k, seed, answer_hash) has one row per answer to a query in ``qids``; missing answers (null,
    with a finish_reason) have no row. ``contexts`` maps (ordering, k), then qid, to the docnos in the prompt. Raises
    InputError if an answer is null without a reason, is a duplicate, or doesn't match its cell's seed or prompt.
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
        parts = [self._keys(cells, prompt_ids) for cells in _parts(sorted(self.answers))]
        self.keys = pl.concat([pl.DataFrame(schema=_KEYS), *parts])

    def texts(self, keys: pl.DataFrame) -> Iterator[tuple[str, str]]:
        """Read the texts of the answers in ``keys`` and yield pairs (answer_hash, answer). Hashes must be unique."""
        for cells in _parts(list(keys.select("ordering", "k", "seed").unique(maintain_order=True).iter_rows())):
            named, files = self._files(cells)
            wanted = keys.join(named, on=["ordering", "k", "seed"]).select("path", "qid", "answer_hash")
            answers = files.select("path", "qid", "answer").join(
                wanted.lazy(), on=["path", "qid"], maintain_order="left"
            )
            yield from answers.select("answer_hash", "answer").collect().iter_rows()

    def cited_sentences(self) -> pl.DataFrame:
        """Read the sentences and citations of all answers; return qid, ordering, k, seed and cited_sentences."""
        cells = (
            read_cited_sentences(path).with_columns(
                ordering=pl.lit(ordering, pl.String), k=pl.lit(k, pl.Int64), seed=pl.lit(seed, pl.Int64)
            )
            for (ordering, k, seed), path in self.answers.items()
        )
        return pl.concat(cells).select(*COLUMNS, "cited_sentences")

    def _files(self, cells: Sequence[Cell]) -> tuple[pl.DataFrame, pl.LazyFrame]:
        """Return the cells' (path, ordering, k, seed), and their answer files as one table with a column ``path``."""
        named = pl.DataFrame([(str(self.answers[cell]), *cell) for cell in cells], schema=_CELLS, orient="row")
        return named, pl.scan_parquet(named["path"].to_list(), glob=False, include_file_paths="path")

    def _compare_orderings(self) -> None:
        """Warn if a query's orderings at the same k show different passages, because some were cut to fit a window."""
        for k in sorted({k for _, k in self.contexts}):
            sets: dict[str, set[frozenset[str]]] = {}
            for context, docnos in self.contexts.items():
                if context[1] == k:
                    for qid, shown in docnos.items():
                        sets.setdefault(qid, set()).add(frozenset(shown))
            if several := sum(len(passages) > 1 for passages in sets.values()):
                log.warning(
                    "k = %d: orderings of %d queries show different passages; all of these passages count as seen",
                    k,
                    several,
                )

    def _keys(self, cells: Sequence[Cell], prompt_ids: Mapping[tuple[str, int], pl.DataFrame]) -> pl.DataFrame:
        """Return the rows of ``keys`` for some cells; their many small files are read and checked together."""
        named, files = self._files(cells)
        asked = [_ASKED]
        for path, ordering, k, _ in named.iter_rows():
            if (ordering, k) in prompt_ids:
                asked.append(prompt_ids[ordering, k].with_columns(path=pl.lit(path)))
            elif (ordering, k) != ZEROSHOT_CONTEXT:
                raise InputError(path, "answers without their prompts", f"the prompts of {ordering}, k {k} as well")
        has_reason = "finish_reason" in files.collect_schema()
        reason = pl.col("finish_reason") if has_reason else pl.lit(None, pl.String)
        table = (
            files.select("path", "qid", "prompt_id", "answer", found_seed="seed", reason=reason)
            .collect()
            .join(named, on="path", maintain_order="left")
            .join(pl.concat(asked), on=["path", "qid"], how="left", maintain_order="left")
        )
        prompted = pl.col("path").is_in(pl.concat(asked)["path"].unique().implode())
        for wrong, found, expected in (
            (pl.col("found_seed") != pl.col("seed"), "an answer with seed {found_seed}", "answers of seed {seed}"),
            (pl.struct("path", "qid").is_duplicated(), "query {qid} twice", "one answer per query"),
            # If two cells' files were swapped, the scores would still look plausible.
            (
                prompted & pl.col("prompt_id").ne_missing(pl.col("asked")),
                "query {qid} answered for another prompt",
                "answers to the prompts of {ordering}, k {k}",
            ),
        ):
            _refuse(table.filter(wrong), found, expected)
        table = table.filter(pl.col("qid").is_in(self.qids))
        unexplained = table.filter(pl.col("answer").is_null() & pl.col("reason").is_null())
        _refuse(unexplained, "no answer for query {qid}", "a text, maybe empty, or a reason")
        table = table.drop_nulls("answer")
        return table.with_columns(answer_hashes(table["answer"])).select(*_KEYS)


def answer_hashes(answers: pl.Series) -> pl.Series:
    """Hash each answer after Unicode composition (NFC), so that composed and decomposed letters give the same hash."""
    hashes = [text_hash(answer) for answer in answers.str.normalize("NFC")]
    return pl.Series("answer_hash", hashes, dtype=pl.String)


def _parts(cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    for start in range(0, len(cells), FILES_AT_ONCE):
        yield cells[start : start + FILES_AT_ONCE]


def _refuse(wrong: pl.DataFrame, found: str, expected: str) -> None:
    """Raise InputError for the first row of ``wrong``; its values fill both templates."""
    for row in wrong.head(1).iter_rows(named=True):
        raise InputError(row["path"], found.format(**row), expected.format(**row))


_KEYS: dict[str, type[pl.DataType]] = {
    "qid": pl.String,
    "ordering": pl.String,
    "k": pl.Int64,
    "seed": pl.Int64,
    "answer_hash": pl.String,
}
_CELLS = {"path": pl.String, "ordering": pl.String, "k": pl.Int64, "seed": pl.Int64}
_ASKED = pl.DataFrame(schema={"qid": pl.String, "asked": pl.String, "path": pl.String})
