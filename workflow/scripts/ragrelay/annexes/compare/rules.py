"""Provide paths and params for the rule that compares studies (config key `compare`)."""

from pathlib import Path

from snakemake.io import report as captioned

from ragrelay.annexes.compare import files
from ragrelay.annexes.compare.settings import CompareSettings
from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import value_hash
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study.files import made_by
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Wildcards

LONGEST = 100
"""Maximum length, in characters, of the name of a comparison's folder."""


class Comparison:
    """Paths and params for the rule that compares studies. Without the key `compare`, no studies are compared."""

    def __init__(self, study: StudyOfRules) -> None:
        settings: CompareSettings | None = study.settings.compare
        self.own = study.name
        before, after = (settings.before, settings.after) if settings else ("before", "after")
        self.listed = isinstance(after, list)
        self.names = [before, *(after if isinstance(after, list) else [after])]
        self.folders = [self.folder(name) for name in self.names] if settings else []
        self.pairs: dict[str, object] = settings.mapping()["pairs"] if settings else {}
        first, *others = (Path(name).name for name in self.names)
        joined = f"{first}-to-{'+'.join(others)}"
        self.title = joined if len(joined) <= LONGEST else (
            f"{joined[: LONGEST - 20]}-{len(others)}-{value_hash(self.names, digits=8)}")  # fmt: skip

    def folder(self, name: str) -> str:
        """Return a study's results folder. ``name``: the study's name, or the folder's path if it contains a slash."""
        if "/" in name:
            return name.rstrip("/")
        return "<results>" if name == self.own else f"results/{name}"

    @property
    def target(self) -> str:
        """The path of the comparison page, which `snakemake compare` builds."""
        return files.comparison.at(studies=self.title)

    def pages(self, _: Wildcards) -> list[str]:
        """Return the compared studies' pages. End the run with a message if a study is unfinished or running."""
        from ragrelay.annexes.compare.studies import check_finished  # imported here because it loads polars

        with on_terminal():
            if not self.folders:
                expected = "{before: <study>, after: <study>}; after can be a list of studies"
                raise InputError("config key 'compare'", "no value", expected)
            for place, (name, folder) in enumerate(zip(self.names, self.folders, strict=True)):
                key = f"after.{place - 1}" if self.listed else "after"
                if folder != "<results>":
                    check_finished(f"config key 'compare.{key if place else 'before'}'", name, folder)
        return [f"{folder}/report/index.html" for folder in self.folders]

    def made(self) -> dict[str, object]:
        """Return the comparison's page and tables, with captions for Snakemake's report."""
        return {
            name: captioned(
                path,
                caption="captions/compare.rst",
                category="Comparison",
                labels={"comparison": name.removeprefix("compared_")},
            )
            for name, path in {"page": files.comparison, **made_by(files.comparison.rule)}.items()
        }
