"""Upper and lower bounds: the oracles of Tian et al. (ECIR 2025)."""

from collections.abc import Mapping
from math import inf

from pydantic import ConfigDict, Field

from ragrelay.errors import InputError
from ragrelay.kinds import Study
from ragrelay.retrieval.judged import Judged


class Oracle(Judged):
    """A sample of the judged passages in one seeded permutation per query."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["min_label"]}, {"required": ["max_label"]}]})

    min_label: int | None = Field(None, description="Lowest label taken.")
    max_label: int | None = Field(None, description="Highest label taken.")

    def check(self, place: str, study: Study) -> None:
        """Bounds must leave a label."""
        lowest = -inf if self.min_label is None else self.min_label
        if lowest > (inf if self.max_label is None else self.max_label):
            raise InputError(place + "'", "min_label above max_label", "min_label ≤ max_label")

    def drawn(self, labels: Mapping[str, int], qid: str) -> list[str]:
        """All between the bounds."""
        return self.permuted(labels, self.min_label, self.max_label, qid)
