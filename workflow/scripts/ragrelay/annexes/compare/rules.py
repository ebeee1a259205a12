"""Give rules what they need of the comparison of two studies (config key `compare`)."""

from pathlib import Path
from typing import Any

from snakemake.io import report as captioned

from ragrelay.annexes.compare import files
from ragrelay.base.errors import InputError
from ragrelay.workflow.jobs.scripts import on_terminal
from ragrelay.workflow.study.files import made_by
from ragrelay.workflow.study.study import StudyOfRules, Wildcards


class Comparison:
    """Paths and params of the rule that compares two studies. Without the key, they name no study."""

    def __init__(self, study: StudyOfRules) -> None:
        settings: dict[str, Any] = study.config.get("compare") or {}
        self.own = study.name
        self.names = [settings.get(side) or side for side in ("before", "after")]
        self.folders = [self.folder(name) for name in self.names] if settings else []
        self.pairs: dict[str, Any] = settings.get("pairs", {})
        self.name = "-to-".join(Path(name).name for name in self.names)

    def folder(self, name: str) -> str:
        """Return the results folder of a study: ``name`` is a study, which may be this one, or a path with a slash."""
        if "/" in name:
            return name.rstrip("/")
        return "<results>" if name == self.own else f"results/{name}"

    def pages(self, wildcards: Wildcards) -> dict[str, str]:
        """Return both studies' pages, which are made last. Ends with a line on the terminal if one isn't finished."""
        from ragrelay.annexes.compare.studies import check_finished  # here, as it loads polars

        sides = ("before", "after")
        with on_terminal():
            if not self.folders:
                raise InputError("config key 'compare'", "none", "{before: <study>, after: <study>}")
            for side, name, folder in zip(sides, self.names, self.folders, strict=True):
                if folder != "<results>":
                    check_finished(f"config key 'compare.{side}'", name, folder)
        return {side: f"{folder}/report/index.html" for side, folder in zip(sides, self.folders, strict=True)}

    @property
    def made(self) -> dict[str, Any]:
        """The page and tables, with their captions in Snakemake's report."""
        paths = {"page": files.comparison, **made_by("compare_studies")}
        return {
            name: captioned(
                path.replace("{pair}", self.name),
                caption="../workflow/report/compare.rst",
                category="Comparison",
                labels={"comparison": name.removeprefix("compared_")},
            )
            for name, path in paths.items()
        }
