"""Read a finished study: all tables by name, the page's answers and the main figure."""

import functools
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.json_values import json_object
from ragrelay.base.io.keyed_files import WILDCARD, KeyedFiles
from ragrelay.base.vocabulary.columns import STUDY_PART, Columns, read_table
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.base.vocabulary.orderings import named_orderings
from ragrelay.execution.jobs.unreadable_files import naming_the_damaged
from ragrelay.execution.study import files
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import counted
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import facts_of
from ragrelay.report.lead_answers import answers
from ragrelay.report.reading import PER_RETRIEVER, read_section
from ragrelay.report.registry import OUTPUTS

if TYPE_CHECKING:
    import altair

_OF_CELLS = ("retriever", "ordering", "k", "seed")
TABLES = {**files.tables, "answers": files.answers, "scores": files.scores}
"""All tables by name: the analysis tables, `per_query` (each query's utility), `retrieval`, `scores` and `answers`."""


_SHOWN = {need for output in OUTPUTS if output.of == "section" for need in output.needs} - {PER_RETRIEVER}
"""The tables that a page section needs."""


class PageAnswers(tuple[Conclusion, ...]):
    """The page's answers in order, each with ``topic``, ``question`` and ``sentence``. Notebooks show a list."""

    def __str__(self) -> str:
        return "\n".join(f"{part.topic}. {part.question} {part.sentence}" for part in self)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- *{part.topic}. {part.question}* **{part.strong}**{part.sentence[len(part.strong) :]}"
                         for part in self)  # fmt: skip


class Results:
    """The results of a finished study. The columns of all tables are listed in docs/reference/results.md.

    A table's first columns, such as dataset, generator and scorer, come from the file's path.

    Args:
        folder: The study's folder, ``results/<study>``.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __repr__(self) -> str:
        page = "finished" if (self.folder / files.provenance.path).is_file() else "not finished"
        return f"<study {self.folder.resolve().name}, {page}, in {self.folder}: {counted(len(self.tables()), 'table')}>"

    def utility(self) -> pl.DataFrame:
        """Read P, P₀ and utility for every query in every cell.

        Returns:
            The table `per_query`.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        return self.table("per_query")

    def gain(self) -> pl.DataFrame:
        """Read the paired comparison of P with P₀ in each cell, with verdicts.

        Returns:
            The table `gain`.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        return self.table("gain")

    def retrieval(self) -> pl.DataFrame:
        """Read the retrieval measures for every query.

        Returns:
            The table `retrieval`.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        return self.table("retrieval")

    def scores(self) -> pl.DataFrame:
        """Read every answer's scores against each reference set.

        Returns:
            The table `scores`.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        return self.table("scores")

    def answers(self) -> pl.DataFrame:
        """Read every answer.

        Returns:
            The table `answers`, with a row per query, cell and seed, and columns that identify the cell.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        return self.table("answers")

    def table(self, name: str) -> pl.DataFrame:
        """Read a table for all datasets, generators and scorers.

        Args:
            name: One of ``tables()``.

        Returns:
            The table, with the columns that ``columns(name)`` describes.

        Raises:
            InputError: The study doesn't have this table, or a file is damaged.
        """
        if name not in (held := self.tables()):
            missing = f", which this study lacks (no {TABLES[name].path})" if name in TABLES else ""
            expected = one_of(held, name) if held else "the folder of a finished study, results/<study>"
            raise InputError(f"table of {self.folder}", f"{name!r}{missing}", expected)
        file, columns = TABLES[name], self.columns(name)
        paths = sorted(self.folder.glob(WILDCARD.sub("*", file.path)))
        return pl.concat(
            [_with_key(_read(path, columns), key) for key, path in KeyedFiles(file.path, tuple(paths)).keyed]
        )

    def tables(self) -> list[str]:
        """List the tables in this study.

        Returns:
            The tables' names.
        """
        return [name for name, file in TABLES.items() if any(self.folder.glob(WILDCARD.sub("*", file.path)))]

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Read a table, as ``table`` does."""
        return self.table(name)

    def answer(
        self, dataset: str | None = None, generator: str | None = None, scorer: str | None = None
    ) -> PageAnswers:
        """Read the page's answers, word for word, from the first section that matches the given names.

        Args:
            dataset: The dataset's name; None matches any dataset.
            generator: The generator's name; None matches any generator.
            scorer: The scorer's name; None matches any scorer.

        Returns:
            The answers; notebooks display them as a list.

        Raises:
            InputError: The study isn't finished or has no such section, or a file is missing or damaged.
        """
        return PageAnswers(answers(facts_of(self.section(dataset, generator, scorer))))

    def figure(
        self, dataset: str | None = None, generator: str | None = None, scorer: str | None = None
    ) -> "altair.FacetChart":
        """Draw the main figure (mean P against k) for the page's first section that matches the given names.

        Args:
            dataset: The dataset's name; None matches any dataset.
            generator: The generator's name; None matches any generator.
            scorer: The scorer's name; None matches any scorer.

        Returns:
            An Altair chart.

        Raises:
            InputError: The study isn't finished or has no such section, or a file is missing or damaged.
        """
        import altair

        from ragrelay.report.paper_figures import mean_quality

        return altair.FacetChart.from_dict(mean_quality(self.section(dataset, generator, scorer), "paper"))

    @functools.cached_property
    def provenance(self) -> dict[str, Any]:
        """The contents of ``report/provenance.json``: configuration, versions, commit, engines and costs.

        Raises:
            InputError: The study isn't finished.
        """
        return self._json(files.provenance.path)

    @functools.cached_property
    def facts(self) -> dict[str, object]:
        """The contents of ``report/facts.json``: the sentences at the top of the page, and the table rows from which
        the sentences' numbers come.

        Raises:
            InputError: The study isn't finished.
        """
        return self._json(files.facts.path)

    def _json(self, name: str) -> dict[str, object]:
        path = self.folder / name
        if not path.is_file():
            raise InputError(self.folder, f"no {name}", "the folder of a finished study, results/<study>")
        return json_object(path, str(self.folder), "a finished study, results/<study>")

    def sections(self) -> list[dict[str, str]]:
        """List the sections on the page in order, starting with the sections for the primary scorer.

        Returns:
            The dataset, generator and scorer of each section.

        Raises:
            InputError: The study isn't finished.
        """
        grid = self.provenance["config"]["grid"]
        names = ("dataset", "generator", "scorer")
        sections = [
            dict(zip(names, key, strict=True)) for key in itertools.product(*(grid[f"{name}s"] for name in names))
        ]
        return sorted(
            sections, key=lambda key: (self._primary(key) or {}).get("scorer", key["scorer"]) != key["scorer"]
        )

    def section_key(
        self, dataset: str | None = None, generator: str | None = None, scorer: str | None = None
    ) -> dict[str, str]:
        """Find the page's first section that matches the given names.

        Args:
            dataset: The dataset's name; None matches any dataset.
            generator: The generator's name; None matches any generator.
            scorer: The scorer's name; None matches any scorer.

        Returns:
            The section's dataset, generator and scorer.

        Raises:
            InputError: The study isn't finished or has no such dataset, generator or scorer.
        """
        wanted = {"dataset": dataset, "generator": generator, "scorer": scorer}
        known = self.sections()
        for name, value in wanted.items():
            if value is not None and value not in (names := list(dict.fromkeys(key[name] for key in known))):
                raise InputError(name, repr(value), one_of(names, value))
        return next(key for key in known if all(value in (None, key[name]) for name, value in wanted.items()))

    def section(self, dataset: str | None = None, generator: str | None = None, scorer: str | None = None) -> Section:
        """Read the data for the page's first section that matches the given names.

        Args:
            dataset: The dataset's name; None matches any dataset.
            generator: The generator's name; None matches any generator.
            scorer: The scorer's name; None matches any scorer.

        Returns:
            The section's tables and settings.

        Raises:
            InputError: The study isn't finished or has no such section, or a file is missing or damaged.
        """
        key = self.section_key(dataset, generator, scorer)
        config = self.provenance["config"]
        datasets, grid = config["datasets"], config["grid"]
        grades = dict(sorted(datasets[key["dataset"]]["references"].items(), key=lambda item: (item[1], item[0])))
        definition = config["scorers"][key["scorer"]]
        paths = {name: self.folder / files.tables[name].at(**key).path for name in sorted(_SHOWN)}
        paths = {name: path for name, path in paths.items() if path.is_file()}
        measured = {name: self.folder / files.measures.at(**key, retriever=name).path for name in grid["retrievers"]}
        described = {
            **key, "utility": definition["utility"], "references": self._reference_sets(key, grades),
            "primary": self._primary(key), PER_RETRIEVER: measured,
            "files": paths,
        }  # fmt: skip
        kinds = {name: config["retrievers"][name]["kind"] for name in grid["retrievers"]}
        grid = grid | {"kinds": kinds, "orderings": named_orderings(grid["orderings"], grid["k"])}
        with naming_the_damaged([str(path) for path in [*paths.values(), *measured.values()]]):
            return read_section(described, grid, config["analysis"]["reference_retriever"])

    def _reference_sets(self, section: Mapping[str, str], grades: Iterable[str]) -> list[str]:
        """Return a section's reference sets without unseen ones: ``grades``, or a single set."""
        rows = self["utility"].filter(**section)
        sets = [name for name in rows["references"].unique(maintain_order=True) if not name.endswith(UNSEEN)]
        return [name for name in grades if name in sets] or sets

    def _primary(self, section: Mapping[str, str]) -> dict[str, Any] | None:
        chosen = self.provenance["primary"]["comparisons"]
        own = [row for row in chosen if all(row[name] == section[name] for name in ("dataset", "scorer"))]
        primary: dict[str, Any] | None = own[0]["primary"] if own else None
        return primary

    def columns(self, name: str) -> Columns:
        """Describe a table's columns.

        Args:
            name: The table's name.

        Returns:
            The type, meaning and unit of each column, keyed by column name.
        """
        columns: Columns = resolve(TABLES[name].columns)
        return columns


def open_results(folder: str | Path) -> Results:
    """Open a finished study's results.

    Args:
        folder: The study's folder, such as ``results/demo``.

    Returns:
        The results.

    Raises:
        InputError: The folder doesn't exist or contains no table from a study.
    """
    results = Results(folder)
    if not results.tables():
        missing = "no table of a study's results" if results.folder.is_dir() else "no folder"
        raise InputError(folder, missing, "the folder of a study's results, results/<study>")
    return results


def _read(path: Path, columns: Columns) -> pl.DataFrame:
    with naming_the_damaged([str(path)]):
        if path.suffix == ".parquet":
            return pl.read_parquet(path, glob=False)
        return read_table(path, columns)


def _with_key(frame: pl.DataFrame, key: Mapping[str, str | int]) -> pl.DataFrame:
    names = [name for name in (*STUDY_PART, *_OF_CELLS) if name in key and name not in frame.columns]
    return frame.select(*(pl.lit(key[name]).alias(name) for name in names), pl.all())
