"""Give the rule its keys."""

import functools

from ragrelay.extend import StudyOfRules


class Openings:
    """The keys of the rule that counts openings."""

    def __init__(self, study: StudyOfRules) -> None:
        self.sections = [
            {"dataset": dataset, "generator": generator}
            for dataset in study.grid.datasets
            for generator in study.grid.generators
        ]


@functools.cache
def of_study(study: StudyOfRules) -> Openings:
    """Return the rule's keys in ``study``."""
    return Openings(study)
