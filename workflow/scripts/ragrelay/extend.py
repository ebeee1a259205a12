"""Public names for extensions: base classes to derive from, and helpers to import.

For example, ``from ragrelay.extend import Retriever``. The module that defines a name is loaded when the name is first
used. Annexes add their own names (``Annex.extends``). docs/reference/public.md lists all names and their stability.
"""

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from ragrelay.base.public_names import public_names

if TYPE_CHECKING:  # base.public_names reads these imports too
    from ragrelay.base.annex import Annex as Annex
    from ragrelay.base.errors import InputError as InputError
    from ragrelay.base.io.atomic_files import write_csv as write_csv
    from ragrelay.base.io.keyed_files import KeyedFiles as KeyedFiles
    from ragrelay.base.io.keyed_files import keyed_files as keyed_files
    from ragrelay.base.kinds import CheckedStudy as CheckedStudy
    from ragrelay.base.settings import DatasetFile as DatasetFile
    from ragrelay.base.settings import Function as Function
    from ragrelay.base.settings import Name as Name
    from ragrelay.base.settings import Settings as Settings
    from ragrelay.base.vocabulary.columns import Column as Column
    from ragrelay.base.vocabulary.columns import boolean as boolean
    from ragrelay.base.vocabulary.columns import integer as integer
    from ragrelay.base.vocabulary.columns import number as number
    from ragrelay.base.vocabulary.columns import read_table as read_table
    from ragrelay.base.vocabulary.columns import text as text
    from ragrelay.base.vocabulary.study_file import StudyFile as StudyFile
    from ragrelay.collection.base import Collection as Collection
    from ragrelay.collection.source import DatasetSource as DatasetSource
    from ragrelay.execution.jobs.scripts import job_log as job_log
    from ragrelay.execution.study.study import StudyOfRules as StudyOfRules
    from ragrelay.generation.generator import GeneratorKind as GeneratorKind
    from ragrelay.generation.likelihoods.word_questions import ask_words as ask_words
    from ragrelay.generation.likelihoods.word_questions import asked_shares as asked_shares
    from ragrelay.generation.likelihoods.word_questions import with_prompts as with_prompts
    from ragrelay.questions.answers import pair_answers as pair_answers
    from ragrelay.questions.bases import AboutAnswers as AboutAnswers
    from ragrelay.questions.bases import AboutPairs as AboutPairs
    from ragrelay.questions.bases import AboutRetrievers as AboutRetrievers
    from ragrelay.questions.question import Question as Question
    from ragrelay.report.display.outputs import SECTION as SECTION
    from ragrelay.report.display.outputs import Figure as Figure
    from ragrelay.report.display.outputs import ResultTable as ResultTable
    from ragrelay.report.display.outputs import Table as Table
    from ragrelay.report.display.page import Page as Page
    from ragrelay.retrieval.processor import Passage as Passage
    from ragrelay.retrieval.processor import Processor as Processor
    from ragrelay.retrieval.retriever import Retriever as Retriever
    from ragrelay.retrieval.retriever import RunTask as RunTask
    from ragrelay.scoring.judge_scorer import JudgeCase as JudgeCase
    from ragrelay.scoring.judge_scorer import JudgeQuestion as JudgeQuestion
    from ragrelay.scoring.judge_scorer import JudgeScorer as JudgeScorer
    from ragrelay.scoring.pair_scorer import GoldPairScorer as GoldPairScorer
    from ragrelay.scoring.pair_scorer import PairScorer as PairScorer
    from ragrelay.scoring.scorer import Measure as Measure
    from ragrelay.scoring.scorer import MeasuredScorer as MeasuredScorer
    from ragrelay.scoring.scorer import Scorer as Scorer
    from ragrelay.scoring.scorer import Scores as Scores
    from ragrelay.scoring.scorer import Task as Task

MOVED: dict[str, str] = {}
"""Maps old names to new ones. Old names keep working for one minor version."""


def __getattr__(name: str) -> Any:
    if name in MOVED:
        warnings.warn(f"ragrelay.extend.{name} is now {MOVED[name]}", DeprecationWarning, stacklevel=2)
        name = MOVED[name]
    if name.startswith("__") or name not in public_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(public_names()[name]), name)


def __dir__() -> list[str]:
    return sorted(public_names())
