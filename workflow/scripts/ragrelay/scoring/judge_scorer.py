"""Define the base class for scorers that use a generator as a judge of answers."""

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
    """An answer to be judged, with the texts that the judge's prompt may contain."""

    qid: str
    query: str
    answer: str
    references: Sequence[str] = ()
    """The texts in one reference set, highest label first."""
    passages: Sequence[str] = ()
    """The texts of the passages in the answer's context, in prompt order."""
    own: Any = None
    """The data that the scorer's method ``own`` returned for the query."""
    sentences: Sequence[Sentence] | None = None
    """The sentences with their citations, if the citations aren't in the answer's text; otherwise None."""
    docnos: Sequence[str] | None = None
    """The passages' ids."""

    def read_sentences(self) -> list[Sentence]:
        """Split the answer into sentences, and read each sentence's citations.

        Returns:
            The sentences, with citations.
        """
        return cited_sentences(self.answer, self.docnos or [""] * len(self.passages))


@dataclass(frozen=True)
class JudgeQuestion:
    """A question to the judge about an answer."""

    texts: Mapping[str, str | Sequence[str]] | None
    """Texts for the template's placeholders; a sequence fills in several passages. None: the question isn't sent, but
    still counts in the score."""
    item: str = ""
    """Tells ``measured`` what the question is about."""


class JudgeScorer(Scorer):
    """Base class for scorers that use a generator as a judge of answers.

    Scores are computed from the probabilities of certain words (such as yes and no) in the judge's reply.
    """

    generator: Name = Field(
        description="Name of the generator that acts as the judge; the generator must not write thoughts."
    )
    prompt: Name = Field(description="Name of a judge template in `config/judge_prompts/`.")
    prefix: str = Field(
        "",
        description="Text with which the judge's reply must begin, before the word. With `chat: false`, you can end "
        "the template with this text instead, which takes one pass over the prompt instead of one pass per word.",
    )
    bias_checks: int = Field(
        0,
        ge=0,
        description="Number of answers (generated with context) that the judge scores again after a change that "
        "shouldn't matter: a different order of the judge's input, or a longer answer. 0 turns these "
        "checks off.",
    )

    def judges(self) -> list[str]:
        """Return the judge, the only generator that the scorer uses.

        Returns:
            A list with the judge's name.
        """
        return [self.generator]

    def placeholders(self) -> set[str]:
        """List the placeholders that the template may contain.

        Returns:
            The placeholders' names.
        """
        raise NotImplementedError

    def words(self) -> list[str]:
        """List the words whose probabilities are read from the judge's reply.

        Returns:
            The words.
        """
        raise NotImplementedError

    def questions(self, case: JudgeCase) -> list[JudgeQuestion]:
        """Build the questions to ask about an answer.

        Args:
            case: The answer, with its query, references and passages.

        Returns:
            The questions, in order.
        """
        raise NotImplementedError

    def measured(self) -> list[pl.Expr]:
        """Define how an answer's scores are computed from the judge's replies.

        Returns:
            Polars aggregations named ``f1`` and, optionally, ``precision`` and ``recall``. The input has a row per
            question, with columns number, item and shares: a list with each word's probability divided by the total
            over ``words``, or null if the question wasn't sent. An answer without questions has one row of nulls.
        """
        raise NotImplementedError

    def score(self) -> pl.Expr:
        """Select the score to use for bias checks.

        Returns:
            The aggregation ``f1`` from ``measured``.
        """
        return next(measure for measure in self.measured() if measure.meta.output_name() == "f1")

    def size(self, case: JudgeCase) -> int | None:
        """Count an answer's references.

        Args:
            case: The answer.

        Returns:
            The number of references, or None to leave the answer out of the score table.
        """
        return len(case.references)

    def own_inputs(self, dataset: str) -> list[str]:
        """List additional input files from which questions are built, such as files written by other rules.

        Args:
            dataset: The dataset's name.

        Returns:
            The files' paths; empty by default.
        """
        return []

    def expected(self, qids: Sequence[str]) -> Mapping[str, object]:
        """Return placeholder data for the plan while the additional input files don't exist yet.

        Args:
            qids: Query ids.

        Returns:
            Data of about the expected size, keyed by qid; empty by default.
        """
        return {}

    def own(self, paths: Sequence[Path]) -> Mapping[str, object]:
        """Read the additional input files.

        Args:
            paths: The paths from ``own_inputs``.

        Returns:
            The files' data, keyed by qid; empty by default.
        """
        return {}


def judge_scorer(definition: Mapping[str, object]) -> JudgeScorer:
    """Create a judge scorer from its definition in the configuration."""
    scorer = SCORER_KINDS.of(definition)
    if not isinstance(scorer, JudgeScorer):
        raise TypeError(f"{scorer} is no JudgeScorer")
    return scorer
