"""Correlations of labels, their cost, and mean ACU beside published ones, on files made by hand."""

from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.acu.usage import COLUMNS as USAGE
from ragrelay.annexes.labels.correlation import COLUMNS as CORRELATIONS
from ragrelay.annexes.labels.cost import COLUMNS as COSTS
from ragrelay.annexes.reproduction.claims import compare_published_claims
from ragrelay.annexes.reproduction.labels import compare_published_cost, compare_published_labels
from ragrelay.base.vocabulary.columns import Columns, schema_of

PART = {"dataset": "nq", "generator": "lm", "scorer": "exact_match"}


def written(path: Path, columns: Columns, rows: list[dict[str, Any]]) -> Path:
    schema = schema_of(columns)
    pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema).write_csv(path)
    return path


def test_correlations_with_p_at_the_largest_k(tmp_path: Path) -> None:
    cell = {**PART, "source": "erag", "measure": "P", "retriever": "bm25", "references": "gold", "quantity": "p",
            "coefficient": "kendall", "k": 50, "value": 0.4, "low": 0.35, "high": 0.45}  # fmt: skip
    rows = [cell, {**cell, "k": 10, "value": 0.1}, {**cell, "quantity": "utility", "value": 0.2},
            {**cell, "references": "gold-unseen", "value": 0.3}, {**cell, "coefficient": "pearson", "value": 0.5},
            {**cell, "coefficient": "spearman", "value": 0.6, "low": 0.5, "high": 0.7}]  # fmt: skip
    path = written(tmp_path / "correlation.csv", CORRELATIONS, rows)
    published = [
        {
            "dataset": dataset,
            "retriever": "bm25",
            "annotation": "erag",
            "measure": "P",
            "coefficient": name,
            "value": value,
        }
        for dataset, name, value in (("nq", "tau", 0.44), ("nq", "rho", 0.8), ("wow", "tau", 0.1), ("nq", "r", None))
    ]
    found = (
        compare_published_labels(published, [path]).select("coefficient", "k", "value", "published", "inside").rows()
    )
    assert found == [("kendall", 50, 0.4, 0.44, True), ("spearman", 50, 0.6, 0.8, False)]


def test_seconds_and_their_ratio(tmp_path: Path) -> None:
    cost = {"dataset": "nq", "generator": "lm"}
    rows = [{**cost, "what": "each passage alone", "k": 1, "device_seconds": 20.0},
            {**cost, "what": "end to end", "k": 2}, {**cost, "what": "end to end", "k": 5},
            {**cost, "what": "end to end", "device_seconds": 50.0}]  # fmt: skip
    path = written(tmp_path / "cost.csv", COSTS, rows)
    published = [{"dataset": name, "end_to_end_seconds": 918.0, "erag_seconds": 306.0} for name in ("nq", "wow")]
    assert compare_published_cost(published, [path]).select("what", "value", "published").rows() == [
        ("end to end", 50.0, 918.0), ("each passage alone", 20.0, 306.0), ("ratio", 2.5, 3.0),
    ]  # fmt: skip


def test_mean_acu_over_all_stances(tmp_path: Path) -> None:
    usage = {"claims": "druid", "generator": "lm", "template": "t", "n": 9, "mean_acu": 0.2, "low": 0.1, "high": 0.3}
    rows = [{**usage, "stance": "supports", "mean_acu": 0.9}, {**usage, "stance": "all stances"}]
    path = written(tmp_path / "usage.csv", USAGE, rows)
    published = [{"model": name, "dataset": "druid", "mean_acu": 0.28} for name in ("lm", "other")]
    (row,) = compare_published_claims(published, path).to_dicts()
    assert (row["value"], row["published"], row["inside"]) == (0.2, 0.28, True)
