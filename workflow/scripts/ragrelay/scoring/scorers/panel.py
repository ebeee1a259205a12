"""Average several judges' scores."""

from typing import Annotated

from pydantic import Field

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name, Text, Unique
from ragrelay.scoring.scorer import SCORER_KINDS, Scorer

JUDGED = "a scorer with a judge, or a scorer of kind file"


class Panel(Scorer):
    """Mean of several judges' scores. Answers without a score from every judge are left out. A verdict must hold for
    the mean over all judges and for every mean that leaves out one judge.
    """

    references: Text = Field(  # type: ignore[assignment]
        "judged", description="What the judges compare answers with: the value of `references` in the judges' entries."
    )
    of: Annotated[Unique[Name], Field(min_length=2)] = Field(
        description="Names of the judges, preferably three or more: scorers that ask a generator, or scorers of kind "
        "`file`. The judges don't have to be in `grid.scorers`."
    )

    def members(self) -> list[str]:
        return self.of

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that each judge uses a generator or a file, and shares the panel's ``references`` and ``utility``."""
        super().check(place, study)
        catalogue = study.config["scorers"]
        for name in self.of:
            key = f"{place}.of'"
            if name not in catalogue:
                raise InputError(key, repr(name), one_of(catalogue, name))
            judge = SCORER_KINDS.of(catalogue[name])
            if not (judge.judges() or judge.from_file):
                raise InputError(key, f"scorer '{name}' of kind {catalogue[name]['kind']}", JUDGED)
            for own, theirs, shared in (
                (self.references, judge.references, "references"), (self.utility, judge.utility, "utility"),
            ):  # fmt: skip
                if own != theirs:
                    raise InputError(f"{place}.{shared}'", repr(own), f"{theirs!r}, as in the entry of judge '{name}'")
