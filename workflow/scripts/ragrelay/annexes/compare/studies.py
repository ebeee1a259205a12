"""Open finished studies, and pair the data that two studies share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.compare.paired import CELL_OF_BOTH, QUANTITY, SIDES
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.parquet_files import read_frame, read_whole
from ragrelay.base.io.run_locks import at_work
from ragrelay.base.vocabulary.columns import CELL_OF_RETRIEVER, QID, number, text

SECTIONS = ("datasets", "generators", "scorers", "retrievers")
HOW_COMPUTED = ("dtype", "device", "batch_tokens")
"""A scorer's keys that don't affect the meaning of P and utility; all other keys must be equal for a comparison."""
COLUMNS = {
    **SIDES,
    **CELL_OF_BOTH,
    "qid": QID,
    "query": text("the query's text"),
    "quantity": QUANTITY,
    "before": number("value of the quantity in the `before` study", "the quantity's"),
    "after": number("value of the quantity in the `after` study", "the quantity's"),
    "difference": number("value in the `after` study minus value in the `before` study", "the quantity's"),
}
"""Columns of queries.csv."""
Config = Mapping[str, Any]
Pairs = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Finished:
    """A finished study: its results folder, and the contents of provenance.json, which include the configuration."""

    name: str
    folder: Path
    provenance: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The study's facts.json; empty if an earlier version wrote the page without this file."""

    @property
    def config(self) -> Config:
        config: Config = self.provenance["config"]
        return config

    @property
    def grid(self) -> Mapping[str, list[Any]]:
        grid: Mapping[str, list[Any]] = self.config["grid"]
        return grid


@dataclass(frozen=True)
class Pair:
    """A dataset, generator and scorer to compare, each with its name in the earlier study and in the later study."""

    dataset: tuple[str, str]
    generator: tuple[str, str]
    scorer: tuple[str, str]

    @property
    def title(self) -> str:
        return " · ".join(before_and_after(*names) for names in (self.dataset, self.generator, self.scorer))

    def to(self, at: int) -> "Pair":
        """Return a Pair whose second names are the earlier study's (``at`` = 0) or the later study's (``at`` = 1)."""
        return Pair(*((names[0], names[at]) for names in (self.dataset, self.generator, self.scorer)))


def before_and_after(before: str, after: str) -> str:
    """Return the name if ``before`` and ``after`` are equal, otherwise ``before → after``."""
    return before if before == after else f"{before} → {after}"


def open_study(folder: str | Path) -> Finished:
    """Open the study whose results are in ``folder``. Raises InputError if the report is missing or damaged."""
    path = Path(folder) / "report" / "provenance.json"
    if not path.is_file():
        raise InputError(path, "no such file", "the folder of a finished study")
    provenance = read_whole(path, Path(folder).name, read_json)
    config = provenance.get("config") if isinstance(provenance, dict) else None
    if not isinstance(config, dict) or not isinstance(config.get("grid"), dict) or "study" not in config:
        raise InputError(path, "no configuration", f"an intact file; delete {path}, then run the study's command again")
    told = path.with_name("facts.json")
    facts = read_whole(told, Path(folder).name, read_json) if told.is_file() else {}
    return Finished(str(config["study"]), Path(folder), provenance, facts)


def check_finished(key: str, name: str, folder: str | Path, results: str | Path = "results") -> None:
    """Raise InputError if study ``name`` (results in ``folder``) has no page, or if a run is still in progress.

    The error names the config key ``key`` and lists the finished studies.
    """
    page = Path("report") / "index.html"
    if not (Path(folder) / page).is_file():
        finished = sorted(path.parents[1].name for path in Path(results).glob(f"*/{page}"))
        expected = one_of(finished, name, what=f"a finished study in {results}")
        raise InputError(key, f"'{name}', which has no {Path(folder) / page}", expected)
    if at_work(folder):
        found = f"'{name}', where a run of Snakemake is in progress or was killed"
        raise InputError(
            key, found, "a finished study; run its command again (first with --unlock if nothing is running)"
        )


def matched(before: Finished, after: Finished, section: str, pairs: Pairs) -> list[tuple[str, str]]:
    """Match two studies' names in a grid section; names that aren't in ``pairs`` match if they are equal.

    If each study has one name, the two match. Raises InputError if a name in ``pairs`` is missing or nothing matches.
    """
    first, second, renamed = before.grid[section], after.grid[section], pairs.get(section, {})
    for study, names, known in ((before, renamed, first), (after, renamed.values(), second)):
        for name in names:
            if name not in known:
                raise InputError(
                    f"config key 'compare.pairs.{section}'", repr(name), f"a name in {study.name}: {known}"
                )
    matches = [(name, renamed.get(name, name)) for name in first if name in renamed or name in second]
    if not matches and len(first) == len(second) == 1:
        matches = [(first[0], second[0])]
    if not matches:
        raise InputError(
            f"grid.{section} of {before.name} and {after.name}",
            f"no common name in {first} and {second}",
            f"a name in both studies, or config key 'compare.pairs.{section}'",
        )
    return matches


def without_counterpart(
    before: Finished, after: Finished, retrievers: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the retrievers that aren't in ``retrievers``, each with the study that has it (`before` or `after`)."""
    sides = (("before", before, {name for name, _ in retrievers}), ("after", after, {name for _, name in retrievers}))
    return [(name, side) for side, study, names in sides for name in study.grid["retrievers"] if name not in names]


def pairs_of(after: Finished, pairs: Pairs) -> Pairs:
    """Return the ``pairs`` whose second name exists in study ``after``; the other pairs may concern other studies."""
    return {
        section: {name: partner for name, partner in named.items() if partner in after.grid[section]}
        for section, named in pairs.items()
    }


def section_pairs(before: Finished, after: Finished, pairs: Pairs) -> list[Pair]:
    """Return the dataset, generator and scorer combinations to compare. Raises InputError if P's definition differs."""
    scorers = matched(before, after, "scorers", pairs)
    for first, second in scorers:
        definitions = before.config["scorers"][first], after.config["scorers"][second]
        for key in dict.fromkeys([*definitions[0], *definitions[1]]):
            values = [definition.get(key) for definition in definitions]
            where = key == "path" and definitions[0]["kind"] == definitions[1]["kind"] == "file"
            if values[0] != values[1] and key not in HOW_COMPUTED and not where:
                place = f"scorers {first} of {before.name} and {second} of {after.name}"
                raise InputError(place, f"{key}: {values[0]} and {values[1]}", "equal values, so that P is comparable")
    return [
        Pair(dataset, generator, scorer)
        for dataset in matched(before, after, "datasets", pairs)
        for generator in matched(before, after, "generators", pairs)
        for scorer in scorers
    ]


def common_references(before: Finished, after: Finished, pair: Pair) -> list[str]:
    """Return the studies' common reference sets, most lenient first. Raises InputError if the grades' labels differ."""
    if (references := before.config["scorers"][pair.scorer[0]].get("references", "judged")) != "judged":
        return [references]
    labels, labels_after = (
        study.config["datasets"][name]["references"] for study, name in zip((before, after), pair.dataset, strict=True)
    )
    common = sorted((grade for grade in labels if grade in labels_after), key=lambda grade: labels[grade])
    for grade in common:
        if labels[grade] != labels_after[grade]:
            found = f"grade {grade} beginning at label {labels[grade]} and at {labels_after[grade]}"
            raise InputError(f"dataset {pair.dataset[0]} of both studies", found, "the same label in both studies")
    return common


def paired_queries(
    before: Finished, after: Finished, pair: Pair, retrievers: Sequence[tuple[str, str]]
) -> pl.DataFrame:
    """Pair each query's values from both studies in every common cell (columns COLUMNS without SIDES).

    The quantities are ``p``, ``utility``, and the retrieval measures common to both studies, such as ``nDCG@k``. A
    value is null if the query has no value in that study.
    """
    queries = [
        _table(study, f"{name}/collection/queries.parquet").select("qid", "query")
        for study, name in zip((before, after), pair.dataset, strict=True)
    ]
    frames = []
    for names in retrievers:
        sides = [_side(study, pair, at, names[at]) for at, study in enumerate((before, after))]
        keys = [*CELL_OF_RETRIEVER, "quantity"]
        common = sides[0].select(keys).unique().join(sides[1].select(keys).unique(), on=keys)
        values, values_after = (side.join(common, on=keys, how="semi") for side in sides)
        joined = values.rename({"value": "before"}).join(
            values_after.rename({"value": "after"}), on=[*keys, "qid"], how="full", coalesce=True
        )
        frames.append(joined.select(pl.lit(before_and_after(*names)).alias("retriever"), pl.all()))
    texts = pl.concat(queries).unique("qid", keep="first")
    return (
        pl.concat(frames)
        .join(texts, on="qid", how="left")
        .select("retriever", *CELL_OF_RETRIEVER, "qid", "query", "quantity", "before", "after",
                (pl.col("after") - pl.col("before")).alias("difference"))
        .sort("retriever", *CELL_OF_RETRIEVER, "quantity", "qid")
    )  # fmt: skip


def _side(study: Finished, pair: Pair, at: int, retriever: str) -> pl.DataFrame:
    """Read one study's values for a retriever: CELL_OF_RETRIEVER, qid, quantity, value."""
    dataset = pair.dataset[at]
    path = f"{dataset}/utility/{pair.scorer[at]}/{pair.generator[at]}.parquet"
    utility = _table(study, path).filter(pl.col("retriever") == retriever)
    answers = utility.unpivot(
        ["p", "utility"], index=[*CELL_OF_RETRIEVER, "qid"], variable_name="quantity", value_name="value"
    )
    measured = _table(study, f"{dataset}/retrieval/{retriever}.parquet")
    cells = utility.select(CELL_OF_RETRIEVER).unique()
    ranked = cells.join(measured, on="k").select(
        *CELL_OF_RETRIEVER, "qid", (pl.col("measure") + "@k").alias("quantity"), pl.col("value")
    )
    return pl.concat([answers, ranked])


def _table(study: Finished, path: str) -> pl.DataFrame:
    """Read a table of ``study``. Errors are those of read_whole."""
    return read_whole(study.folder / path, study.name, read_frame)
