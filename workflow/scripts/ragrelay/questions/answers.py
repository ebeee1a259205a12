"""Read the generated answers that a question to a model is about."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import polars as pl

from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, AnswerCells, Cell

if TYPE_CHECKING:
    from ragrelay.questions.question import QuestionJob


class Answers(Protocol):
    """The answers that a question is about. Jobs use FileAnswers; the plan fills in placeholders for missing ones."""

    keys: pl.DataFrame
    contexts: dict[tuple[str, int], dict[str, list[str]]]
    baseline_cells: set[Cell]

    def texts(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Add the answers' texts to ``keys``, which has one row per answer."""

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Yield answers whose texts are known, with True, and answers with placeholders, with False."""


class FileAnswers:
    """The answers in the files of a question's job.

    ``keys`` has one row per answer (qid, ordering, k, seed). ``contexts`` gives each prompt's docnos by (ordering, k)
    and qid. ``baseline_cells`` are the zero-shot cells that a retriever's job reads as its baseline.

    Args:
        job: The job, with the inputs `answers`, `prompts` and optionally `zeroshot`.
        qids: The queries whose answers to read.
        retriever: The retriever whose answers to read, if the files belong to several retrievers.
    """

    def __init__(self, job: "QuestionJob", qids: Sequence[str], retriever: str | None = None) -> None:
        answers, prompts = job.keyed("answers"), job.keyed("prompts")
        if retriever is not None:
            answers, prompts = answers.matching(retriever=retriever), prompts.matching(retriever=retriever)
        zeroshot = job.keyed("zeroshot").by("seed") if job.paths("zeroshot") else {}
        baseline = {(*ZEROSHOT_CONTEXT, seed): path for seed, path in zeroshot.items()}
        cells = {**answers.by("ordering", "k", "seed"), **baseline}
        self._cells = AnswerCells(cells, prompts.by("ordering", "k"), qids)
        self.keys, self.contexts, self.baseline_cells = self._cells.keys, self._cells.contexts, set(baseline)

    def texts(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Add the answers' texts.

        Args:
            keys: The attribute ``keys``, or some of its rows.

        Returns:
            The same rows, with columns answer and cited_sentences added.
        """
        texts = dict(self._cells.texts(keys.unique("answer_hash", keep="first", maintain_order=True)))
        answers = keys.with_columns(answer=pl.col("answer_hash").replace_strict(texts, return_dtype=pl.String))
        return answers.join(self._cells.cited_sentences(), on=COLUMNS, how="left", maintain_order="left")

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Split answers by whether their texts are known.

        Args:
            answers: Rows returned by ``texts``.
            sure: Unused here; only placeholders in the plan need it.

        Yields:
            A single pair: ``answers`` and True, because files contain all texts.
        """
        yield answers, True


def pair_answers(job: "QuestionJob", qids: Sequence[str], retriever: str) -> pl.DataFrame:
    """Read the answers of one of the two systems in a pair (see bases.AboutPairs).

    Args:
        job: The job.
        qids: The queries whose answers to read.
        retriever: The retriever's name, or `zeroshot`.

    Returns:
        Columns qid, ordering, k, seed, answer and certain (false if the answer is one of the plan's placeholders).
    """
    answers = job.answers(qids, retriever)
    parts = answers.split(answers.texts(answers.keys), True)
    return pl.concat(part.select(*COLUMNS, "answer", certain=pl.lit(known)) for part, known in parts)
