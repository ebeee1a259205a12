"""Cells with simulated predictors: noise, or with a known correlation with the target."""

from collections.abc import Mapping

import numpy as np
from ragrelay.annexes.prediction.cells import PredictedCell, stages


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


def exchangeable_cells(n: int, rho: float, seed: int, count: int, others: int = 12) -> list[PredictedCell]:
    """``count`` cells whose contexts are as good as none: P and P_0 are the quality of a query and noise of equal size.

    Eight predictors of the answers without context, of which half have the correlation ``rho`` with P_0, noise and all;
    ``others`` follow the query's quality a little.
    """
    random = np.random.default_rng([n, round(100 * rho), seed])
    names = [name for name in stages() if name.startswith("zeroshot")][:8]
    quality, noise = random.standard_normal((2, n))
    p0 = np.sqrt(0.5) * (quality + noise)
    strengths = [rho] * 4 + [0.0] * 4
    before = {
        name: strength * p0 + np.sqrt(1 - strength**2) * random.standard_normal(n)
        for name, strength in zip(names, strengths, strict=True)
    }
    found = []
    for place in range(count):
        p = np.sqrt(0.5) * (quality + random.standard_normal(n))
        after = [name for name in stages() if name not in names and not name.startswith("zeroshot")][:others]
        predictors = before | {name: 0.3 * quality + random.standard_normal(n) for name in after}
        named = {"retriever": "bm25", "ordering": "descending", "k": place + 1, "references": "lenient"}
        targets = {"nDCG": random.standard_normal(n), "p": p, "gain": p - p0}
        found.append(PredictedCell(named, [f"q{one:04d}" for one in range(n)], predictors, targets))
    return found
