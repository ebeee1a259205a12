"""Label a passage with the score of the answer generated from that passage alone (Salemi and Zamani, SIGIR 2024)."""

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import BY_ANSWERS, ContinuousSource, SourceData
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.settings import Name
from ragrelay.scoring.scorer import SCORER_KINDS


class Erag(ContinuousSource):
    """Labels a passage with the score of the answer generated from that passage alone (Salemi and Zamani, SIGIR 2024),
    averaged over seeds and computed against the same references as P.
    """

    needs_single_answers = True

    scorer: Name | None = Field(
        None,
        description="Name of the scorer in the grid whose score is the label; by default, the scorer that computes P.",
    )

    generator: Name | None = Field(
        None,
        description="Name of the generator in the grid that answers from one passage at a time; by default, the "
        "generator whose answers are scored for P. A generator whose answers are read from files needs the key "
        "`single_passages` in its entry.",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that the scorer is in the grid and bounded, and that the generator can answer from single passages."""
        super().check(place, study)
        entries = study.config["generators"]
        able = [name for name in study.grid.generators if name in study.asked or "single_passages" in entries[name]]
        for name in study.grid.generators if self.generator is None else [self.generator]:
            if name not in able:
                found = f"'{name}', whose answers come from a file" if name in study.grid.generators else repr(name)
                known = one_of(able, what="a generator with an engine")
                raise InputError(f"{place}.generator'", found, f"{known}, or key single_passages for this generator")
        scorers = study.grid.scorers
        if self.scorer is not None and self.scorer not in scorers:
            expected = one_of(scorers, self.scorer, what="a scorer in grid.scorers")
            raise InputError(f"{place}.scorer'", repr(self.scorer), expected)
        for name in [self.scorer] if self.scorer else scorers:
            definition = study.config["scorers"][name]
            kind, found = SCORER_KINDS.of(definition), f"scorer '{name}' of kind {definition['kind']}"
            if not kind.bounded:
                raise InputError(f"{place}.scorer'", found, "a scorer with scores from 0 to 1")
            if kind.from_file:
                raise InputError(f"{place}.scorer'", found, "a scorer that can score other texts")
            if kind.judges():
                raise InputError(f"{place}.scorer'", found, "a scorer that doesn't use a generator")

    def job(self, name: str, scorer: str, generator: str) -> tuple[str, dict[str, str]]:
        """Return the job that labels passages with the source's scorer."""
        other = {"generator": self.generator} if self.generator else {}
        return BY_ANSWERS, {"scorer": self.scorer or scorer, **other}

    def labels(self, data: SourceData) -> pl.DataFrame:
        return data.own_sets()
