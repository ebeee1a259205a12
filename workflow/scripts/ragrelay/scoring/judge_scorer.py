"""Define the base class of scorers that ask a generator about each answer and read probabilities of fixed words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from ragrelay.base.settings import Name
from ragrelay.scoring.scorer import SCORER_KINDS, Scorer
from ragrelay.scoring.sentences import Sentence, cited_sentences


@dataclass(frozen=True)
class JudgeCase:
    """An answer, with the texts that a judge may need.

    ``references``: the texts of one set, best label first; ``passages``: the passages of the answer's context, in
    prompt order, and ``docnos`` their ids; ``own``: the value of the scorer's ``own`` for the query. ``sentences``: the
    sentences of an answer with citations outside its text; None for other answers.
    """

    qid: str
    query: str
    answer: str
    references: Sequence[str] = ()
    passages: Sequence[str] = ()
    own: Any = None
    sentences: Sequence[Sentence] | None = None
    docnos: Sequence[str] | None = None

    def read_sentences(self) -> list[Sentence]:
        """Return the answer's sentences, with the citations in its text."""
        return cited_sentences(self.answer, self.docnos or [""] * len(self.passages))


@dataclass(frozen=True)
class JudgeQuestion:
    """A question about an answer: ``texts`` for the template's placeholders. A sequence stands for passages.

    ``item`` tells ``measured`` what the question is about. A question without texts is not asked, but counts.
    """

    texts: Mapping[str, str | Sequence[str]] | None
    item: str = ""


class JudgeScorer(Scorer):
    """A scorer that asks a generator about each answer, and reads words' probabilities at one position of its reply."""

    generator: Name = Field(description="Name of the generator that judges, which must not think.")
    prompt: Name = Field(description="Name of a template in `config/judge_prompts/`.")
    prefix: str = Field(
        "",
        description="Text that the reply is made to begin with, before the word. A template of raw completion can also "
        "end with it, which costs one pass over the prompt in place of one per word.",
    )
    bias_checks: int = Field(
        0,
        ge=0,
        description="How many answers of the retrievers are judged again with something changed that should not "
        "count: the order of what the judge is shown, or the answer's length. 0: none.",
    )

    def judges(self) -> list[str]:
        """Return the name of the judge, the only generator that this scorer asks."""
        return [self.generator]

    def placeholders(self) -> set[str]:
        """Return the placeholders of the template's question."""
        raise NotImplementedError

    def words(self) -> list[str]:
        """Return the words whose probabilities are read."""
        raise NotImplementedError

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Return the questions about an answer."""
        raise NotImplementedError

    def measured(self) -> list[pl.Expr]:
        """Return aggregations over an answer's questions: ``f1``, and maybe ``precision`` and ``recall``.

        The questions' columns are number, item and shares: a list with the share of each of ``words`` in the
        probability of all of them; null if the question was not asked. An answer without questions has one row of
        nulls.
        """
        raise NotImplementedError

    def score(self) -> pl.Expr:
        """Return the ``f1`` of ``measured``. Bias checks compare it."""
        return next(measure for measure in self.measured() if measure.meta.output_name() == "f1")

    def size(self, case: JudgeCase) -> int | None:
        """Return the answer's number of references. None: the answer gets no row in the score table."""
        return len(case.references)

    def own_inputs(self, dataset: str) -> list[str]:
        """Return the scorer's own input files for its questions, which may be outputs of other rules."""
        return []

    def expected(self, qids: Sequence[str]) -> Mapping[str, Any]:
        """Return estimates that replace ``own`` in the plan until its files exist."""
        return {}

    def own(self, paths: Sequence[Path]) -> Mapping[str, Any]:
        """Return the data for questions from the files of ``own_inputs``, by qid."""
        return {}


def judge_scorer(definition: Mapping[str, Any]) -> JudgeScorer:
    """Return the scorer of a definition from the configuration."""
    scorer = SCORER_KINDS.of(definition)
    if not isinstance(scorer, JudgeScorer):
        raise TypeError(f"{scorer} is no JudgeScorer")
    return scorer
