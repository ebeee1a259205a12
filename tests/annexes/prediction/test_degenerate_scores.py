"""Predictions of scores that do not vary, or are few or missing."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction import evaluation
from ragrelay.annexes.prediction.best import rest_given
from ragrelay.annexes.prediction.cells import stages
from ragrelay.annexes.prediction.table import SCHEMA as PREDICTIONS
from ragrelay.base.errors import InputError

from tests.support.degenerate_study import GRID
from tests.unit.analysis.test_degenerate_columns import RANKINGS, Files, files, finite  # noqa: F401

pytestmark = pytest.mark.filterwarnings("error")


def test_predictions(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """All tables stay finite, for a predictor with values, for a constant one, and for one without a value."""
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
        with pytest.raises(InputError, match="answers with passages: found no scores"):
            evaluation.evaluate_predictions(*arguments)
    else:
        tables = evaluation.evaluate_predictions(*arguments)
        assert [name for name, table in tables.items() if name != "sare" and not finite(table)] == []


@pytest.mark.parametrize("p0", [np.full(12, 0.5), np.resize([0.0, 1.0], 12), np.linspace(0.1, 0.9, 12)])
def test_what_p0_leaves_is_what_least_squares_leave(p0: np.ndarray) -> None:
    """This holds too where P_0 has one value or two, so that its square adds nothing."""
    columns = np.random.default_rng(0).normal(size=(12, 3))
    ranks = np.argsort(np.argsort(p0, kind="stable")) if len(set(p0)) > 2 else p0
    design = np.column_stack([np.ones(12), ranks, ranks.astype(float) ** 2])
    rest = columns - design @ np.linalg.lstsq(design, columns, rcond=1e-10)[0]
    assert rest_given(p0)(columns) == pytest.approx(rest / np.linalg.norm(rest, axis=0))
