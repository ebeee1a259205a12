"""Label a passage with the decrease in P when the passage is removed from the context."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import BY_EFFECTS, AnnotationSource, SourceData
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name
from ragrelay.scoring.scorer import SCORER_KINDS

PASSAGE = ["references", "qid", "docno"]
READ = {"intervention": pl.String, "retriever": pl.String, "k": pl.Int64, **dict.fromkeys(PASSAGE, pl.String),
        "effect": pl.Float64}  # fmt: skip
"""The columns to read from passage_effects.csv."""


class LeaveOut(AnnotationSource):
    """The passage's contribution to P: P with the complete context minus P without the passage. Both values come from
    an intervention of kind `leave_out`; the label is the mean over the retrievers whose contexts contain the passage.
    Labels can be negative. Precision is the mean label, hit ratio the largest label, and nDCG counts negative labels as
    0. Measures are computed only at cutoffs below the labels' `k`, because the labels are derived from P at `k`.
    """

    signed = True
    single = False
    relevant_from = float(np.nextafter(0, 1))

    intervention: Name = Field(description="Name of an intervention of kind `leave_out`.")
    k: int | None = Field(
        None,
        ge=3,
        description="Number of passages in the contexts behind the labels; by default, the intervention's largest k.",
    )
    threshold: float | None = Field(
        None, description="Labels of at least this value become 1 and all others 0; by default, labels are unchanged."
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check the intervention and the values of k, and that new answers can be generated and scored."""
        super().check(place, study)
        definitions = study.config.get("interventions") or {}
        able = [name for name, definition in definitions.items() if definition["kind"] == "leave_out"]
        if self.intervention not in able:
            known = one_of(able, self.intervention, what="an intervention of kind leave_out")
            raise InputError(f"{place}.intervention'", repr(self.intervention), known)
        ks = sorted(definitions[self.intervention].get("k") or study.grid.k)
        if self.k is not None and self.k not in ks:
            raise InputError(f"{place}.k'", str(self.k), one_of(ks, what=f"a k of intervention {self.intervention}"))
        k = self.k or ks[-1]
        if not any(2 <= one < k for one in study.grid.k):
            expected = f"a k of at least 2 and less than {k}, the k of interventions.{self.intervention}"
            raise InputError("config key 'grid.k'", ", ".join(map(str, study.grid.k)), expected)
        for name in study.grid.generators:
            if name not in study.asked:
                raise InputError(f"{place}'", f"generator {name}, whose answers come from a file", "one with an engine")
        for name in study.grid.scorers:
            kind = SCORER_KINDS.of(study.config["scorers"][name])
            if kind.from_file or kind.judges():
                raise InputError(f"{place}'", f"scorer {name}", "only scorers that use neither a generator nor a file")

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """Return the job that computes the effects of removing passages."""
        return BY_EFFECTS, {}

    def whole(self, catalogue: object) -> bool:
        """Return whether a threshold turns the labels into integers (0 or 1)."""
        return self.threshold is not None

    def read(self, path: str | Path) -> pl.DataFrame:
        """Read the effects of all interventions (columns READ)."""
        return pl.read_csv(path, columns=list(READ), schema_overrides=READ).select(*READ)

    def measured_below(self, data: SourceData) -> int | None:
        """Return the k of the contexts from which passages were removed."""
        ks = data.table.filter(intervention=self.intervention)["k"]
        return self.k or (int(ks.max()) if len(ks) else None)  # type: ignore[arg-type]

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label the passages in the contexts from which the intervention removed passages."""
        own = data.table.filter(intervention=self.intervention, k=self.measured_below(data) or 0)
        # Means are taken over sorted lists, so that the number of threads doesn't change the last digit.
        of_passages = own.sort(*PASSAGE, "retriever").group_by(*PASSAGE, maintain_order=True).agg("effect")
        return replace(data, made=of_passages.select(*PASSAGE, label=pl.col("effect").list.mean())).own_sets()
