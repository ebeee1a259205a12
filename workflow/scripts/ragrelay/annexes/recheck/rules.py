"""Provide inputs and params for the recheck rules."""

import functools

from ragrelay.annexes.recheck import files as recheck_files
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules

PROMPTS = {"prompts": files.prompts, "contexts": files.contexts}


class Recheck:
    """Inputs and params for the recheck rules."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    def each(self, pattern: StudyFile) -> list[StudyFile]:
        """Fill in ``pattern`` for all generators with an engine and all scorers without a judge."""
        study = self.study
        return study.grid_paths(pattern, generator=study.asked_generators(), scorer=study.scoring.computed)

    @functools.cached_property
    def clusters(self) -> list[StudyFile]:
        """The files with query clusters, for all datasets that have clusters."""
        return self.study.collection.all_clusters

    @property
    def params(self) -> dict[str, object]:
        """The params for the rule that summarises rechecks; the rule rewrites its files whenever it is requested."""
        study = self.study
        return {
            "patterns": {
                "answers": recheck_files.rechecked_answers,
                "receipts": recheck_files.recheck_receipt,
                "scores": recheck_files.recheck_scores,
                "clusters": files.clusters,
            },
            "margin": study.settings.analysis.equivalence_margin,
            "imported": list(study.generation.imported),
            "outputs": {
                "table": study.fill(recheck_files.recheck_table),
                "record": study.fill(recheck_files.recheck_record),
            },
            "page": study.fill(files.report),
        }
