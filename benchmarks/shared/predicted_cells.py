"""Cells with simulated predictors: noise, or with a known correlation with the target."""

from collections.abc import Mapping

import numpy as np
from ragrelay.prediction.cells import PredictedCell, stages


def cell(n: int, correlations: Mapping[str, float], seed: int, noise: int = 0, **names: str | int) -> PredictedCell:
    """``n`` queries; predictors by name with these correlations with P, and ``noise`` more with none; P_0 apart."""
    random = np.random.default_rng(seed)
    p, p0 = random.normal(size=n), random.normal(size=n)
    others = [name for name in stages() if name not in correlations][:noise]
    predictors = {name: r * p + np.sqrt(1 - r * r) * random.normal(size=n) for name, r in correlations.items()}
    predictors |= {name: random.normal(size=n) for name in others}
    gain = p - p0
    targets = {"nDCG": random.normal(size=n), "p": p, "utility": gain / np.abs(p0), "gain": gain}
    named = {"retriever": "bm25", "ordering": "descending", "k": 2, "references": "lenient", **names}
    return PredictedCell(named, [f"q{place:04d}" for place in range(n)], predictors, targets)
