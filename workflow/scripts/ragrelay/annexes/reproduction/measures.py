"""Measure how well the cells of a table are reproduced (Breuer et al., SIGIR 2020), and compare the cells' ranks."""

from collections.abc import Iterator

import polars as pl
from scipy import stats

from ragrelay.analysis.significance import ASCENDING
from ragrelay.annexes.reproduction.cells import MARKS
from ragrelay.base.vocabulary.columns import REASON, REFERENCES, STUDY_PART, integer, number, schema_of, text

ALL = "all datasets"
CELLS_AT_LEAST = 3
"""Minimum number of cells for a rank correlation."""
SUMMARY = {
    "dataset": text(f"name of the dataset, or `{ALL}`"),
    **{name: STUDY_PART[name] for name in ("generator", "scorer")},
    "n": integer("number of cells that are in both tables", "cells"),
    "n_published": integer("number of cells in the published table for the dataset or datasets", "cells"),
    "n_with_interval": integer("number of cells that are in both tables and have an interval in this study", "cells"),
    "n_inside": integer("number of cells whose interval in this study contains the published value", "cells"),
    "mean_difference": number("mean over cells of this study's value minus the published value"),
    "rmse": number("root mean square over cells of the difference between this study's value and the published value"),
    "kendall": number("Kendall's tau-b between this study's values and the published values, over cells", "−1 to 1"),
    "spearman": number("Spearman's rho between this study's values and the published values, over cells", "−1 to 1"),
    "n_dagger": integer("number of cells with a result for † in both tables", "cells"),
    "n_dagger_agree": integer("number of cells in which the results for † agree", "cells"),
    "n_double_dagger": integer("number of cells in ascending order with a result for ‡ in both tables", "cells"),
    "n_double_dagger_agree": integer("number of cells in which the results for ‡ agree", "cells"),
    "reason": REASON,
}
"""Columns of summary.csv."""
EFFECTS = {
    **STUDY_PART,
    "references": REFERENCES,
    "baseline": text("baseline: the first retriever in the published table, with which the others are compared"),
    "retriever": text("name of the retriever whose improvement over the baseline is measured"),
    "n": integer("number of cells (ordering and k) for which both tables have values for both retrievers", "cells"),
    "improvement": number("improvement in mean utility over the baseline in this study, averaged over cells"),
    "published_improvement": number("published improvement in mean utility over the baseline, averaged over cells"),
    "effect_ratio": number("effect ratio (ER): improvement in this study ÷ published improvement; 1 is ideal"),
    "relative_improvement": number("this study's improvement divided by the baseline's mean utility in this study"),
    "published_relative_improvement": number("published improvement divided by the baseline's published mean utility"),
    "delta_relative_improvement": number("difference in relative improvement (ΔRI): the published value minus this "
        "study's value; 0 is ideal"),
    "reason": REASON,
}  # fmt: skip
"""Columns of effects.csv."""


def cell_summary(cells: pl.DataFrame, published: dict[str, int]) -> pl.DataFrame:
    """Summarise how well the cells' utility is reproduced, by generator, scorer and dataset (columns SUMMARY).

    ``published``: the number of cells in the published table, keyed by dataset.
    """
    rows: list[dict[str, object]] = []
    for (generator, scorer), part in _utilities(cells).group_by(["generator", "scorer"], maintain_order=True):
        datasets = part["dataset"].unique(maintain_order=True).to_list()
        scopes = {dataset: [dataset] for dataset in datasets} | ({ALL: datasets} if len(datasets) > 1 else {})
        for name, members in scopes.items():
            own = part.filter(pl.col("dataset").is_in(members))
            size = sum(published[dataset] for dataset in members)
            rows.append(
                {"dataset": name, "generator": generator, "scorer": scorer, "n_published": size} | _closeness(own)
            )
    return pl.DataFrame(rows, schema=schema_of(SUMMARY))


def effects(cells: pl.DataFrame) -> pl.DataFrame:
    """Compare our improvements over the table's first retriever with published ones, by section and reference set.

    The effect ratio and delta RI are equations 8 and 9 of Breuer et al. (2020), with mean utility as the measure and
    cells in place of topics, because values per topic aren't published. Returns columns EFFECTS.
    """
    return pl.DataFrame(list(_effects(_utilities(cells))), schema=schema_of(EFFECTS))


def _utilities(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.filter(quantity="utility").drop_nulls(["value", "published"])


def _closeness(cells: pl.DataFrame) -> dict[str, object]:
    ours, theirs = cells["value"].to_numpy(), cells["published"].to_numpy()
    row: dict[str, object] = {
        "n": cells.height,
        "n_with_interval": cells["inside"].count(),
        "n_inside": cells["inside"].sum(),
        "mean_difference": float((ours - theirs).mean()),
        "rmse": float(((ours - theirs) ** 2).mean() ** 0.5),
    }
    for column, name in zip(MARKS, ("dagger", "double_dagger"), strict=True):
        known = cells.drop_nulls([column, f"published_{column}"])
        known = known if name == "dagger" else known.filter(ordering=ASCENDING)
        row[f"n_{name}"] = known.height
        row[f"n_{name}_agree"] = known.filter(pl.col(column) == pl.col(f"published_{column}")).height
    if cells.height < CELLS_AT_LEAST or cells["value"].n_unique() == 1 or cells["published"].n_unique() == 1:
        return row | {"reason": f"fewer than {CELLS_AT_LEAST} cells, or all values are equal"}
    return row | {
        "kendall": float(stats.kendalltau(ours, theirs).statistic),
        "spearman": float(stats.spearmanr(ours, theirs).statistic),
    }


def _effects(cells: pl.DataFrame) -> Iterator[dict[str, object]]:
    keys, cell = [*STUDY_PART, "references"], ["ordering", "k"]
    for key, part in cells.group_by(keys, maintain_order=True):
        baseline, *others = part["retriever"].unique(maintain_order=True).to_list()
        base = part.filter(retriever=baseline).select(*cell, base="value", published_base="published")
        for retriever in others:
            paired = part.filter(retriever=retriever).join(base, on=cell)
            if paired.is_empty():
                continue
            means = {name: float(paired[name].mean()) for name in ("value", "published", "base", "published_base")}  # type: ignore[arg-type]
            improvement = means["value"] - means["base"]
            published = means["published"] - means["published_base"]
            row: dict[str, object] = dict(zip(keys, key, strict=True)) | {
                "baseline": baseline, "retriever": retriever, "n": paired.height, "improvement": improvement,
                "published_improvement": published,
            }  # fmt: skip
            row["effect_ratio"] = improvement / published if published else None
            relative = [difference / mean if mean else None for difference, mean in
                        ((improvement, means["base"]), (published, means["published_base"]))]  # fmt: skip
            row["relative_improvement"], row["published_relative_improvement"] = relative
            if None not in relative:
                row["delta_relative_improvement"] = relative[1] - relative[0]  # type: ignore[operator]
            yield row | {"reason": None if published and None not in relative else "a baseline or an improvement of 0"}
