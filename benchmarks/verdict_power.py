"""How often the verdict on Spearman's rho finds a correlation of the size that the page calls detectable.

    python benchmarks/verdict_power.py --out benchmarks/results/verdict_power.json

Draws bivariate normal columns whose rho is analysis.correlation.detectable_rho of as many queries, and takes the
verdict of correlation.csv: the studentised permutation test at 5%, and an interval that leaves out 0. Seeded.
"""

import numpy as np
from ragrelay.analysis import correlation
from ragrelay.analysis.bootstrap import bootstrap_intervals
from ragrelay.analysis.correlation import detectable_rho
from ragrelay.analysis.verdicts import ABOVE, of_correlation

from benchmarks.shared.record import Figure, arguments, figure, write_record

SIZES = (12, 20, 36, 54, 100, 200)
PERMUTATIONS = RESAMPLES = 2_000
DRAWN_AT_ONCE = 250


def found(draws: int, n: int, rho: float) -> float:
    """Share of data sets of ``n`` queries and a true ``rho`` above 0 whose verdict is `above zero`."""
    random, r, hits = np.random.default_rng([n, round(1e4 * rho)]), 2 * np.sin(np.pi / 6 * rho), 0
    for _ in range(0, draws, DRAWN_AT_ONCE):
        x, noise = random.standard_normal((2, DRAWN_AT_ONCE, n))
        pairs = list(zip(x, r * x + np.sqrt(1 - r**2) * noise, strict=True))
        p_values = correlation.permutation_p("spearman", pairs, PERMUTATIONS, 0)
        intervals = bootstrap_intervals("spearman", pairs, RESAMPLES, 0)
        words = [of_correlation(one.low, one.high, p) for one, p in zip(intervals, p_values, strict=True)]
        hits += words.count(ABOVE)
    return hits / draws


def figures(draws: int) -> dict[str, Figure]:
    """All figures by label."""
    made = {}
    for n in SIZES:
        rho = detectable_rho(n)
        assert rho is not None
        made[f"{n} queries: detectable ρ"] = figure(rho)
        made[f"{n} queries: share of data sets in which the detectable ρ is detected"] = figure(found(draws, n, rho))
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--draws", type=int, default=5_000)
    given = parser.parse_args()
    setting = (
        f"{given.draws:,} data sets per row, with normally distributed columns; the detectable ρ should be detected in "
        "80% of data sets"
    )
    write_record(given, setting, figures(given.draws), ["numpy", "scipy"])
