"""Predictions, labels, pooled datasets and splits by context use, of scores that do not vary, or are few or missing."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.context_use_split import split_utility
from ragrelay.analysis.pooled import Sample, pool_samples
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.analysis.variance import utility_reliability
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.values import SCHEMA as VALUES
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.annexes.prediction import evaluation
from ragrelay.annexes.prediction.best import rest_given
from ragrelay.annexes.prediction.cells import stages
from ragrelay.annexes.prediction.table import SCHEMA as PREDICTIONS
from ragrelay.base.errors import InputError

from tests.support.degenerate_study import GRID, PATTERNS, degenerate, shape
from tests.support.measured_study import Measured

pytestmark = pytest.mark.filterwarnings("error")
RANKINGS = ["bm25", "dense"]


class Files(NamedTuple):
    measured: Measured
    scores: dict[str, Path]
    retrieval: dict[str, Path]
    utility: Path


@pytest.fixture(params=[(pattern, n) for pattern in PATTERNS for n in (1, 16)], ids=str)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    pattern, n = request.param
    return written(degenerate(shape("bertscore" if n == 1 else "exact_match"), pattern, n), tmp_path)


def written(measured: Measured, folder: Path) -> Files:
    paths: dict[str, dict[str, Path]] = {"scores": {}, "retrieval": {}}
    for part, files in paths.items():
        for name in ("zeroshot", *GRID["retrievers"])[part == "retrieval" :]:
            files[name] = folder / f"{part}-{name}.parquet"
            getattr(measured, part).filter(retriever=name).drop("retriever").write_parquet(files[name])
    write_utility(compute_utility(paths["scores"], measured.mode), folder / "utility.parquet")
    return Files(measured, paths["scores"], paths["retrieval"], folder / "utility.parquet")


def finite(table: pl.DataFrame) -> bool:
    return all(table[name].drop_nulls().is_finite().all() for name in table.columns if table[name].dtype.is_float())


def test_predictions(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a predictor with values, a constant one, and one without a value."""
    monkeypatch.setattr(evaluation, "RESAMPLES_AT_MOST", 50)
    qids, names = files.measured.qrels["qid"].unique().sort(), list(stages())[:3]
    rows = [(qid, k, None, name, value, None) for place, qid in enumerate(qids) for k in GRID["k"]
            for name, value in zip(names, (float(place), 1.0, None), strict=True)]  # fmt: skip
    path = tmp_path / "predictions.parquet"
    pl.DataFrame(rows, schema=PREDICTIONS, orient="row").write_parquet(path)
    kinds = {name: GRID["kinds"][name] for name in RANKINGS}
    arguments = (dict.fromkeys(RANKINGS, path), files.utility, files.retrieval, kinds, RANKINGS, "nDCG", 30, 0)
    answered = pl.read_parquet(files.utility).filter(pl.col("k") > 0)
    if answered.is_empty():
        with pytest.raises(InputError, match="answers with passages: found none that has a score"):
            evaluation.evaluate_predictions(*arguments)
    else:
        tables = evaluation.evaluate_predictions(*arguments)
        assert [name for name, table in tables.items() if name != "sare" and not finite(table)] == []


def test_labels(files: Files) -> None:
    """Of a source whose measure varies, and of one whose doesn't."""
    qids = files.measured.qrels["qid"].unique().sort()
    rows = [{"retriever": name, "source": source, "references": grade, "measure": "nDCG", "k": k, "qid": qid,
             "value": place % 3 if source == "varies" else 1.0}
            for name in RANKINGS for source in ("varies", "constant") for grade in files.measured.grades
            for k in GRID["k"] for place, qid in enumerate(qids)]  # fmt: skip
    values = pl.DataFrame(rows, schema_overrides={"value": pl.Float64})
    others = {name: kind for name, kind in VALUES.items() if name not in values.columns}
    values = values.with_columns(pl.lit(0).cast(kind).alias(name) for name, kind in others.items()).select(*VALUES)
    utility = pl.read_parquet(files.utility)
    assert finite(label_correlations(values, utility, 30, 0))
    for analysed in (label_choices, label_within):
        assert finite(analysed(values, utility, GRID["kinds"], ["constant"]))


def test_datasets_and_generators_together(files: Files) -> None:
    utility = pl.read_parquet(files.utility)
    measured, contexts = files.measured, files.measured.contexts.filter(pl.col("k") > 0)
    for generators in (("one",), ("one", "other")):
        utilities = dict.fromkeys(generators, utility)
        samples = [Sample(str(n), "s", measured.primary, utilities, measured.retrieval, contexts) for n in range(5)]
        pooled = pool_samples(samples, GRID["kinds"], 0.02)
        assert finite(pooled)
        errors = pooled["error"].drop_nulls()
        assert errors.is_empty() or errors.min() > 1e-12


def test_context_use_and_reliability(files: Files, tmp_path: Path) -> None:
    used = pl.read_parquet(files.utility).with_columns(
        context_use=pl.when(pl.col("p").is_not_null()).then(0.5), text_change=pl.lit(0.1)
    )
    used.write_parquet(tmp_path / "used.parquet")
    assert finite(split_utility(tmp_path / "used.parquet", files.retrieval, "nDCG", 30, 0))
    assert finite(utility_reliability(files.scores, files.measured.mode))


@pytest.mark.parametrize("p0", [np.full(12, 0.5), np.resize([0.0, 1.0], 12), np.linspace(0.1, 0.9, 12)])
def test_what_p0_leaves_is_what_least_squares_leave(p0: np.ndarray) -> None:
    """Also where P_0 has one value or two, so that its square adds nothing."""
    columns = np.random.default_rng(0).normal(size=(12, 3))
    ranks = np.argsort(np.argsort(p0, kind="stable")) if len(set(p0)) > 2 else p0
    design = np.column_stack([np.ones(12), ranks, ranks.astype(float) ** 2])
    rest = columns - design @ np.linalg.lstsq(design, columns, rcond=1e-10)[0]
    assert rest_given(p0)(columns) == pytest.approx(rest / np.linalg.norm(rest, axis=0))
