"""Labels of scores that do not vary, or are few or missing."""

import polars as pl
import pytest
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.values import SCHEMA as VALUES
from ragrelay.annexes.labels.within_queries import label_within

from tests.support.degenerate_study import GRID
from tests.unit.analysis.test_degenerate_columns import RANKINGS, Files, files, finite  # noqa: F401

pytestmark = pytest.mark.filterwarnings("error")


def test_labels(files: Files) -> None:  # noqa: F811
    """All tables stay finite, for a source whose measure varies and for one whose measure is constant."""
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
