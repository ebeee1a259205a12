"""Give the rule what it needs of a study."""

import functools

from ragrelay.extend import StudyOfRules


class Openings:
    """What the rule that counts openings needs."""

    def __init__(self, study: StudyOfRules) -> None:
        self.sections = [
            {"dataset": dataset, "generator": generator}
            for dataset in study.grid.datasets
            for generator in study.grid.generators
        ]


@functools.cache
def of_study(study: StudyOfRules) -> Openings:
    """Return what the rule needs of ``study``."""
    return Openings(study)
