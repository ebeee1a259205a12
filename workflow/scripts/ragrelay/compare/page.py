"""The page of a comparison, in the look of a study's page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from ragrelay.compare import figures
from ragrelay.compare.findings import sentences
from ragrelay.compare.paired import SAME
from ragrelay.compare.studies import Finished, Pair, differences_of
from ragrelay.display import tables
from ragrelay.display.charts import Spec
from ragrelay.display.numbers import count, number, p_value, with_interval
from ragrelay.display.packing import packed
from ragrelay.display.palette import Look
from ragrelay.display.script_json import script_json
from ragrelay.display.tables import Column, Table
from ragrelay.display.templates import FOLDER, bundle, environment, inside

TEMPLATE = FOLDER / "compare.html.j2"
STYLES = ("page.css", "print.css")
SCRIPTS = ("tables.js", "charts.js")
SCORING = ("torch", "transformers")
MOST_MOVED = 600
MOST_TESTS = 3_000
MOST_POINTS = 20_000
"""On the whole page, shared by its pairs; it stays below 10 MB."""


@dataclass(frozen=True)
class Compared:
    """One pair's queries and tests.

    ``looks``: by retriever as shown, in the order of the grid, as on the page of the study before; ``left_out``:
    retrievers of either study without a partner.
    """

    pair: Pair
    references: Sequence[str]
    looks: Mapping[str, Look]
    queries: pl.DataFrame
    tests: pl.DataFrame
    left_out: Sequence[str] = ()


def render(before: Finished, after: Finished, pairs: Sequence[Compared], template: Path = TEMPLATE) -> str:
    """The page as HTML; what comes from data is escaped as on a study's page."""
    charts: dict[str, Spec] = {}
    shown = [_part(compared, place, len(pairs), charts) for place, compared in enumerate(pairs, 1)]
    config = [row for row in differences_of(before.config, after.config) if row["key"] != "study"]
    return (
        environment(template.parent)
        .get_template(template.name)
        .render(
            title=f"{before.name} → {after.name}",
            before=before,
            after=after,
            pairs=shown,
            config=tables.records_table("What differs in the configurations", config, ("key", "before", "after")),
            about=tables.records_table("The two studies", [_about("before", before), _about("after", after)]),
            style=inside(template.parent, *STYLES),
            script=inside(template.parent, *SCRIPTS),
            bundle=bundle(),
            charts=Markup(script_json(charts)),
        )
    )


def _about(side: str, study: Finished) -> dict[str, Any]:
    versions = study.provenance.get("versions") or {}
    engines = {
        f"{about.get('engine')} {about.get('version')} on {about.get('device')}"
        for about in (study.provenance.get("generators") or {}).values()
    }
    fingerprints = [about.get("fingerprint") for about in (study.provenance.get("generators") or {}).values()]
    return {"side": side, "study": study.name, "results": str(study.folder), "commit": study.provenance.get("commit"),
            "engine": sorted(engines), "fingerprints": fingerprints,
            "versions": [f"{name} {versions[name]}" for name in SCORING if name in versions]}  # fmt: skip


def _part(compared: Compared, place: int, parts: int, charts: dict[str, Spec]) -> dict[str, Any]:
    look, title = compared.looks, compared.pair.title
    grades, points = list(compared.references), MOST_POINTS // parts
    drawn = compared.queries.filter(pl.col("references").is_in(grades))
    thinned = drawn.height > points
    if thinned:
        step = -(-drawn.height // points)
        drawn = drawn.filter(pl.col("qid").is_in(drawn["qid"].unique().sort().gather_every(step).implode()))
    specs = {
        "change": figures.change_by_k(compared.tests.filter(pl.col("references").is_in(grades)), look, grades, title),
        "queries": figures.before_after(drawn, look, grades, title),
    }
    charts |= {f"s{place}-{name}": packed(spec) for name, spec in specs.items()}
    return {
        "anchor": f"s{place}",
        "title": title,
        "thinned": thinned,
        "findings": sentences(compared),
        "tests": test_table(compared.tests, MOST_TESTS // parts),
        "moved": moved_table(compared.queries, MOST_MOVED // parts),
    }


def test_table(tests: pl.DataFrame, most_rows: int) -> Table:
    rows = [
        [row["retriever"], row["ordering"], str(row["k"]), row["references"], row["quantity"], count(row["n"]),
         number(row["mean_before"]), number(row["mean_after"]),
         with_interval(row["mean_difference"], row["low"], row["high"]), row["verdict"] or "", number(row["d_z"], 2),
         count(row["up"]), count(row["down"]), p_value(row["p_verdict"]), p_value(row["p_holm"]), p_value(row["p_bh"]),
         p_value(row["p_t"]), p_value(row["p_wilcoxon"]), p_value(row["p_permutation"]), count(row["family_size"]),
         count(row["n_unpaired"]), row["reason"] or ""]
        for row in tests.head(most_rows).iter_rows(named=True)
    ]  # fmt: skip
    columns = [*_cell_columns(), Column("queries", True), Column("mean before", True), Column("mean after", True),
               Column("mean change", True), Column("verdict", filtered=True), Column("d_z", True), Column("up", True),
               Column("down", True), Column("p", True), Column("p, Holm", True), Column("p, BH", True),
               Column("p, t-test", True), Column("p, Wilcoxon", True), Column("p, permutation", True),
               Column("tests in family", True), Column("unpaired", True), Column("remark")]  # fmt: skip
    return Table(columns, rows, tests.height - len(rows), title="Paired tests of the change, per cell, over queries")


def moved_table(queries: pl.DataFrame, most_rows: int) -> Table:
    """The queries that moved most, of every quantity and cell; the largest change first."""
    moved = queries.filter(pl.col("difference").abs() > SAME).sort(
        pl.col("difference").abs(), descending=True, maintain_order=True
    )
    some = [part.head(max(1, most_rows // max(1, queries["quantity"].n_unique())))
            for part in moved.partition_by("quantity", maintain_order=True)]  # fmt: skip
    shown = pl.concat(some) if some else moved
    rows = [
        [row["qid"], row["query"], row["retriever"], row["ordering"], str(row["k"]), row["references"],
         row["quantity"], number(row["before"]), number(row["after"]), number(row["difference"])]
        for row in shown.iter_rows(named=True)
    ]  # fmt: skip
    columns = [Column("qid"), Column("query"), *_cell_columns(), Column("before", True), Column("after", True),
               Column("change", True)]  # fmt: skip
    return Table(columns, rows, moved.height - shown.height, title="The queries that moved most")


def _cell_columns() -> list[Column]:
    return [*tables.cell_columns(), Column("quantity", filtered=True, chosen="utility")]
