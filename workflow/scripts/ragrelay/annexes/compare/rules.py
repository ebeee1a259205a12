"""Give rules what they need of the comparison of studies (config key `compare`)."""

from collections import Counter
from pathlib import Path
from typing import Any

from snakemake.io import report as captioned

from ragrelay.annexes.compare import files
from ragrelay.base.errors import InputError
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study.files import made_by, tables
from ragrelay.execution.study.study import StudyOfRules, Wildcards

LONGEST = 100
"""Characters of a folder's name."""


class Comparison:
    """Paths and params of the rules that compare studies. Without the key, they name no study."""

    def __init__(self, study: StudyOfRules) -> None:
        settings: dict[str, Any] = study.config.get("compare") or {}
        self.own = study.name
        after = settings.get("after") or "after"
        self.listed = isinstance(after, list)
        self.names = [settings.get("before") or "before", *(after if isinstance(after, list) else [after])]
        self.folders = [self.folder(name) for name in self.names] if settings else []
        self.pairs: dict[str, Any] = settings.get("pairs", {})
        first, *others = (Path(name).name for name in self.names)
        seen: Counter[str] = Counter()
        self.of: dict[str, int] = {}
        """The name of each comparison of two studies, and the place of the second among all."""
        for place, name in enumerate(others, 1):
            seen[name] += 1
            again = f"-{seen[name]}" if seen[name] > 1 else ""
            self.of[f"{first}-to-{name}{again}"] = place
        joined = f"{first}-to-{'+'.join(others)}"
        self.together = joined if len(joined) <= LONGEST else (
            f"{joined[: LONGEST - 20]}-{len(others)}-{value_hash(self.names, digits=8)}")  # fmt: skip

    def folder(self, name: str) -> str:
        """Return the results folder of a study: ``name`` is a study, which may be this one, or a path with a slash."""
        if "/" in name:
            return name.rstrip("/")
        return "<results>" if name == self.own else f"results/{name}"

    @property
    def several(self) -> bool:
        """Whether more than two studies are compared."""
        return len(self.names) > len(("before", "after"))

    @property
    def target(self) -> list[StudyFile]:
        """The pages that the target asks for."""
        pages = [files.comparison.at(pair=name) for name in self.of]
        return [*([files.several.at(studies=self.together)] if self.several else []), *pages]

    def pages(self, wildcards: Wildcards) -> dict[str, str]:
        """Return the pages of both studies of a pair, which are made last."""
        pages = self.finished()
        return {"before": pages[0], "after": pages[self.of[wildcards.pair]]}

    def parts(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """Return the pages of all studies, and the tables of each one's comparison with the first."""
        of_pairs = {name: tables[f"compared_{name}"] for name in ("tests", "queries")}
        return {"pages": self.finished()} | {
            name: [table.at(pair=pair) for pair in self.of] for name, table in of_pairs.items()
        }

    def finished(self) -> list[str]:
        """Return the pages of all studies. Ends with a line on the terminal if one isn't finished, or is at work."""
        from ragrelay.annexes.compare.studies import check_finished  # here, as it loads polars

        with on_terminal():
            if not self.folders:
                expected = "{before: <study>, after: <study>}; after can be a list of studies"
                raise InputError("config key 'compare'", "none", expected)
            for place, (name, folder) in enumerate(zip(self.names, self.folders, strict=True)):
                key = f"after.{place - 1}" if self.listed else "after"
                if folder != "<results>":
                    check_finished(f"config key 'compare.{key if place else 'before'}'", name, folder)
        return [f"{folder}/report/index.html" for folder in self.folders]

    def made(self, rule: str) -> dict[str, Any]:
        """Return the page and tables of ``rule``, with their captions in Snakemake's report."""
        page = files.comparison if rule == files.comparison.rule else files.several
        return {
            name: captioned(
                path,
                caption=f"captions/{page.rule.replace('_studies', '')}.rst",
                category="Comparison",
                labels={"comparison": name.removeprefix("compared_")},
            )
            for name, path in {"page": page, **made_by(rule)}.items()
        }
