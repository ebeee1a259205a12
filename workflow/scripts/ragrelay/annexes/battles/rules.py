"""Provide data for the battle rules: pairs, votes, and the inputs and params of jobs."""

import functools
from collections.abc import Mapping

from ragrelay.annexes.battles import files as battle_files
from ragrelay.annexes.battles.battle import BATTLE_KINDS, Battle, Fought, Pair, opponent_of
from ragrelay.annexes.battles.kinds.file import File
from ragrelay.annexes.battles.kinds.judge import Judge
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key, Wildcards


class Battles:
    """A study's data for the battle rules."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        definitions: Mapping[str, dict[str, object]] = study.config.get("battles") or {}
        self.battles: dict[str, Battle] = {name: BATTLE_KINDS.of(one) for name, one in definitions.items()}

    @functools.cached_property
    def judged(self) -> dict[str, Judge]:
        """The battles in which a generator votes, keyed by name."""
        return {name: battle for name, battle in self.battles.items() if isinstance(battle, Judge)}

    @functools.cached_property
    def filed(self) -> dict[str, File]:
        """The battles whose votes come from files, keyed by name."""
        return {name: battle for name, battle in self.battles.items() if isinstance(battle, File)}

    def keys_of(self, name: str) -> list[Mapping[str, str]]:
        """Return the wildcards for each dataset and generator in battle ``name``."""
        grid = self.study.grid
        return [{"dataset": d, "battle": name, "generator": g} for d in grid.datasets for g in grid.generators]

    @functools.cached_property
    def sections(self) -> list[Mapping[str, str]]:
        """The wildcards of each combination of battle, dataset and generator."""
        return [key for name in self.battles for key in self.keys_of(name)]

    def _fought(self, name: str) -> Fought:
        fought = self.battles[self.battles[name].members(name)[0]]
        if not isinstance(fought, Fought):
            raise TypeError(f"{name}: a battle without votes")
        return fought

    def opponent(self, name: str) -> str:
        """Return the system that retrievers are compared with in battle ``name``."""
        primary = self.study.primary(self.study.grid.datasets[0])
        return opponent_of(self._fought(name), self.study, primary["reference"] if primary else None)

    def met(self, name: str) -> list[Pair]:
        """Return the pairs of systems that battle ``name`` compares."""
        return self._fought(name).met(self.study.grid.retrievers, self.opponent(name))

    def votes(self, wildcards: Wildcards) -> list[StudyFile]:
        """Return the vote file of the battle in ``wildcards`` or, for a panel, of each battle in the panel."""
        return battle_files.votes.each({"battle": member} for member in self.members(wildcards))

    def members(self, wildcards: Wildcards) -> list[str]:
        """Return the name of the battle in ``wildcards`` or, for a panel, of each battle in the panel."""
        return self.battles[wildcards.battle].members(wildcards.battle)

    @functools.cached_property
    def cell(self) -> dict[str, object]:
        """The primary comparison's ordering and k."""
        primary = self.study.primary(self.study.grid.datasets[0])
        return {name: primary[name] for name in ("ordering", "k")} if primary else dict(self.study.contexts[-1])

    @functools.cached_property
    def explored(self) -> list[Key]:
        """Wildcards of the answer files with the primary comparison's ordering and k, and of zero-shot answer files."""
        of_cell = [cell for cell in self.study.retriever_cells if {**cell, **self.cell} == cell]
        return [*of_cell, *({"retriever": ZEROSHOT, **cell} for cell in self.study.zeroshot_cells)]

    @functools.cached_property
    def utility(self) -> list[StudyFile]:
        """Each scorer's utility file, which contains P."""
        return files.utility.each({"scorer": scorer} for scorer in self.study.grid.scorers)

    @functools.cached_property
    def params(self) -> dict[str, object]:
        """The params of the job that analyses a battle."""
        primary = self.study.primary(self.study.grid.datasets[0])
        return {
            "fight": lambda wildcards: {
                "members": self.members(wildcards),
                "pairs": [list(pair) for pair in self.met(wildcards.battle)],
                "opponent": self.opponent(wildcards.battle),
                "cell": self.cell,
                "measure": primary["measure"] if primary else self.study.grid.measures[0],
            },
        }

    @functools.cached_property
    def placing(self) -> dict[str, object]:
        """The params of the job that reads a file of votes."""
        grid = self.study.grid
        return {
            "grid": {"generators": grid.generators, "orderings": grid.orderings, "ks": sorted(grid.k),
                     "seeds": grid.seeds},
            "pairs": lambda wildcards: [list(pair) for pair in self.met(wildcards.battle)],
        }  # fmt: skip

    @functools.cached_property
    def shown(self) -> dict[str, object]:
        """Values for the page: the ordering and k of the primary cell, and each battle's kind, opponent and judges."""
        return {
            "cell": self.cell,
            "battles": {
                name: {
                    "kind": self.study.config["battles"][name]["kind"],
                    "opponent": self.opponent(name),
                    "generator": battle.judges(),
                }
                for name, battle in self.battles.items()
            },
        }


@functools.cache
def of_study(study: StudyOfRules) -> Battles:
    """Return ``study``'s data for the battle rules."""
    return Battles(study)
