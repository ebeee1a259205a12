"""Give rules what they need of rechecks."""

import functools

from ragrelay.annexes.recheck import files as recheck_files
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules

PROMPTS = {"prompts": files.prompts, "contexts": files.contexts}


class Recheck:
    """Inputs and params of the rules that recheck."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study

    def each(self, pattern: StudyFile) -> list[StudyFile]:
        """Return the files of ``pattern`` of all generators with an engine, and of all scorers that ask no judge."""
        study = self.study
        return study.grid_paths(pattern, generator=study.asked_generators(), scorer=study.scoring.computed)

    @functools.cached_property
    def clusters(self) -> list[StudyFile]:
        """The tables of clusters of the datasets that have them."""
        return self.study.collection.all_clusters

    @property
    def params(self) -> dict[str, object]:
        """Params of the rule that sums up. Its files are no outputs: it writes them whenever it is asked for."""
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
