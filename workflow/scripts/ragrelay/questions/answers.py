"""Read the answers that a question is about from files."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from ragrelay.scoring.answer_cells import COLUMNS, ZEROSHOT_CONTEXT, AnswerCells

if TYPE_CHECKING:
    from ragrelay.questions.question import QuestionJob


class FileAnswers:
    """Answers to ``qids`` in the files of ``job``; of one ``retriever`` if the files belong to several.

    ``keys``: a row per answer (qid, ordering, k, seed). ``contexts``: the docnos of each prompt, by ordering and k,
    then qid. ``baseline_cells``: the zero-shot cells that a retriever's job reads as its baseline.
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
        """Return the rows ``keys``, or a selection of them, with the columns answer and cited_sentences added."""
        texts = dict(self._cells.texts(keys.unique("answer_hash", keep="first", maintain_order=True)))
        answers = keys.with_columns(answer=pl.col("answer_hash").replace_strict(texts, return_dtype=pl.String))
        return answers.join(self._cells.cited_sentences(), on=COLUMNS, how="left", maintain_order="left")

    def split(self, answers: pl.DataFrame, sure: bool) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Yield parts of ``answers``, each with a flag: whether its texts are known. Here all of them are."""
        yield answers, True
