"""Provide outputs and params for the export rules."""

import functools
import itertools

from ragrelay.annexes.exchange import files
from ragrelay.base.annex import annexes
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files as study_files
from ragrelay.execution.study.reported import MEASURED, Reported
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Wildcards

EXPORTED = {
    "trec_rag": files.exported_trec_rag,
    "pyterrier": files.exported_pyterrier,
    "jsonl": files.exported_jsonl,
    "parquet": files.exported_parquet,
}
"""The files with a generator's answers in other programs' formats, keyed by format."""


class Exports:
    """Outputs and params for the export rules."""

    def __init__(self, study: StudyOfRules, reported: Reported) -> None:
        self.study, self.reported = study, reported

    @functools.cached_property
    def tables(self) -> list[StudyFile]:
        """The exported tables, as Parquet files."""
        names = [*self.reported.section_patterns, *MEASURED, *self.reported.pooled]
        return [files.exported_table.at(name=name) for name in names]

    @functools.cached_property
    def scores(self) -> list[StudyFile]:
        """A generator's score tables, for all scorers, retrievers and zero-shot answers."""
        tables = itertools.product(self.study.grid.scorers, self.study.retrievers_and_zeroshot)
        return study_files.scores.each({"scorer": scorer, **retriever} for scorer, retriever in tables)

    @property
    def registries(self) -> list[str]:
        """The modules that register the annexes' files and tables, needed to describe the exported files."""
        return [module for annex in annexes() for module in annex.registries]

    def patterns(self, wildcards: Wildcards) -> dict[str, StudyFile]:
        """Return the path patterns of the files that an export job reads and writes."""
        passages = self.study.generation.passages(wildcards.generator)
        return {"prompts": study_files.prompts, "answers": study_files.answers, "passages": passages, **EXPORTED}

    def about(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the keys and values that describe a generator's run in TREC RAG records."""
        return {"team_id": "ragrelay", "run_desc": f"study {self.study.name}, generator {wildcards.generator}"}
