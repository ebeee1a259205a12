"""Read the generated answers from which a question's requests are built."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import polars as pl

from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, AnswerCells, Cell

if TYPE_CHECKING:
    from ragrelay.questions.question import QuestionJob


class Answers(Protocol):
    """Answers from which a question's requests are built; in the plan, some texts are placeholders."""

    keys: pl.DataFrame
    contexts: dict[tuple[str, int], dict[str, list[str]]]
    baseline_cells: set[Cell]

    def texts(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Add each answer's text to ``keys``, which has one row per answer."""

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Yield the answers that have texts, paired with True, and the answers with placeholders, paired with False."""


class FileAnswers:
    """The answers in a job's input files.

    ``keys`` has one row per answer (qid, ordering, k, seed). ``contexts`` maps each (ordering, k) and qid to the docnos
    in the prompt. ``baseline_cells`` are the zero-shot cells that serve as a retriever's baseline.

    Args:
        job: The job; its inputs include `answers`, `prompts` and optionally `zeroshot`.
        qids: Ids of the queries whose answers are read.
        retriever: Name of the retriever whose answers are read; None if all files belong to the same retriever.
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
            keys: All or some rows of the attribute ``keys``.

        Returns:
            ``keys`` with the added columns answer and cited_sentences.
        """
        texts = dict(self._cells.texts(keys.unique("answer_hash", keep="first", maintain_order=True)))
        answers = keys.with_columns(answer=pl.col("answer_hash").replace_strict(texts, return_dtype=pl.String))
        return answers.join(self._cells.cited_sentences(), on=COLUMNS, how="left", maintain_order="left")

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Split ``answers`` into answers with texts and (in the plan only) answers with placeholders.

        Args:
            answers: Rows returned by ``texts``.
            sure: Not used here; matters only for the plan's placeholders.

        Yields:
            A single pair, ``answers`` and True, because files contain all texts.
        """
        yield answers, True


def pair_answers(job: "QuestionJob", qids: Sequence[str], retriever: str) -> pl.DataFrame:
    """Read a retriever's answers, or the zero-shot answers, for a question about pairs of answers.

    Args:
        job: The job.
        qids: Ids of the queries whose answers are read.
        retriever: Name of the retriever, or `zeroshot`.

    Returns:
        A table with columns qid, ordering, k, seed, answer and ``certain`` (false for the plan's placeholders).
    """
    answers = job.answers(qids, retriever)
    parts = answers.split(answers.texts(answers.keys), True)
    return pl.concat(part.select(*COLUMNS, "answer", certain=pl.lit(known)) for part, known in parts)
