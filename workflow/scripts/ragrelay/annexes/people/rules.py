"""Provide data for the human-score rules: files, params, and the scorers and retrievers to compare."""

import functools
import itertools
from pathlib import Path

from ragrelay.annexes.people import files as people_files
from ragrelay.annexes.people.settings import PeopleSettings
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Key, OfJob


class People:
    """A study's data for the human-score rules."""

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.settings: PeopleSettings = study.settings.people or PeopleSettings.model_validate({})
        self.scorer = self.settings.scorer
        """The scorer with human scores, or None."""
        self.given = study.scoring.filed[self.scorer] if self.scorer else None

    @functools.cached_property
    def others(self) -> list[str]:
        """The grid's scorers, except the scorer with the human scores."""
        return [name for name in self.study.grid.scorers if self.scorer and name != self.scorer]

    @functools.cached_property
    def sections(self) -> list[Key]:
        """The wildcards for each dataset; empty if no scorer is compared with people."""
        return [{"dataset": dataset} for dataset in self.study.grid.datasets] if self.others else []

    @functools.cached_property
    def cells(self) -> list[Key]:
        """The wildcards for each generator's cells."""
        cells = itertools.product(self.study.grid.generators, self.study.all_cells)
        return [{"generator": generator, **cell} for generator, cell in cells]

    @functools.cached_property
    def scores(self) -> list[StudyFile]:
        """The score tables of all scorers except the one with the human scores."""
        tables = itertools.product(self.others, self.study.grid.generators, self.study.retrievers_and_zeroshot)
        return files.scores.each(
            {"scorer": scorer, "generator": generator, **retriever} for scorer, generator, retriever in tables
        )

    @functools.cached_property
    def from_files(self) -> list[StudyFile]:
        """The score tables of all scorers of kind `file`."""
        return [
            path
            for retriever in self.study.retrievers_and_zeroshot
            for path in self.study.grid_paths(files.scores.at(**retriever), scorer=self.study.scoring.filed)
        ]

    @property
    def file(self) -> OfJob:
        """An input function that returns the file with a dataset's human scores."""
        scores = self.given
        return lambda wildcards: scores.file(wildcards.dataset) if scores else []

    @property
    def params(self) -> dict[str, object]:
        """The params for the rule that compares scorers with people."""
        study, name = self.study, self.scorer
        if name is None:
            return {}
        return {
            "patterns": {"answers": files.answers, "scores": files.scores, "measures": files.measures},
            "measure": study.grid.measures[0],
            "people": name,
            "scorer": study.scoring.of_jobs(name),
            "cells": study.scoring.filed[name].cells(study.grid),
            # A scorer's first reference set counts.
            "references": lambda wildcards: {
                other: next(iter(study.reference_sets(wildcards.dataset, other))) for other in self.others
            },
            "pairs": lambda wildcards: self.pairs(wildcards.dataset),
        }

    def pairs(self, dataset: str) -> list[list[str]]:
        """Return the pairs of retrievers to compare: each retriever paired with the primary comparison's reference."""
        primary = self.study.primary(dataset)
        if primary is None:
            return []
        first = [primary["retriever"], primary["reference"]]
        rest = [name for name in self.study.grid.retrievers if name not in first]
        return [first, *([name, primary["reference"]] for name in rest)]

    def width_lines(self) -> list[str]:
        """Return a line per dataset that says how many human scores are needed; empty if no scorer has human scores."""
        if (scores := self.given) is None:
            return []
        import polars as pl

        from ragrelay.annexes.people.drawing import SYSTEM, width_lines  # imported here because few runs need it

        lines = list[str]()
        for dataset in self.study.grid.datasets:
            queries = Path(self.study.fill(files.queries.at(dataset=dataset)))
            if queries.is_file():
                answers = pl.read_parquet(queries, columns=["qid"]).height * len(self.study.grid.seeds)
                rows = scores.rows(dataset, self.study.grid, self.study.folder).drop_nulls("value")
                cells = rows.partition_by(SYSTEM)
                lines += width_lines(dataset, [cell["value"].to_numpy() for cell in cells], answers)
        return lines

    @functools.cached_property
    def drawn_cells(self) -> list[Key]:
        """The cells to draw from: zero-shot, and the cells of the primary comparison, or all cells if there is none."""
        cells = self.study.primary_cells or self.study.retriever_cells
        zeroshot = [{"retriever": ZEROSHOT, **cell} for cell in self.study.zeroshot_cells]
        keys = itertools.product(self.study.grid.generators, [*cells, *zeroshot])
        return [{"generator": generator, **cell} for generator, cell in keys]

    @property
    def draw(self) -> dict[str, object]:
        """The params for the rule that draws answers for people to score."""
        study, name, scores = self.study, self.scorer, self.given
        return {
            "patterns": {"answers": files.answers, "queries": files.queries},
            "files": {dataset: scores.file(dataset) if scores else None for dataset in study.grid.datasets},
            "outputs": {d: study.fill(people_files.answers_to_score.at(dataset=d)) for d in study.grid.datasets},
            "scorer": study.scoring.of_jobs(name) if name else None,
            "cells": scores.cells(study.grid) if scores else None,
            "drawn_from": self.drawn_cells,
            "number": self.settings.to_score,
            "seed": self.settings.seed,
        }

    @functools.cached_property
    def drawn(self) -> dict[str, object] | None:
        """Values for the page: the scorers, and each dataset's primary comparison; None if nothing is compared."""
        if not self.sections:
            return None
        primary = {name: self.study.primary(name) for name in self.study.grid.datasets}
        return {"people": self.scorer, "scorers": self.others, "primary": primary}


@functools.cache
def of_study(study: StudyOfRules) -> People:
    """Return ``study``'s data for the human-score rules."""
    return People(study)
