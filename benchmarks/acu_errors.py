"""How often the test of a characteristic and ACU finds something where there is nothing: pairs, or claims, as the unit.

    python benchmarks/acu_errors.py --out benchmarks/results/acu_errors.json

Draws claims with some pairs each, ACU and a characteristic that are unrelated and both alike within a claim, and takes
the tests of correlations.csv: scipy's, for which pairs are independent, and that of whole claims. Few claims have a
rare characteristic. A goal is 5% and two standard errors; skewed ACU, log-normal, is a limit without one. Seeded.
"""

import itertools
from collections.abc import Callable

import numpy as np
from ragrelay.analysis.clusters import clustered_slope
from ragrelay.analysis.coefficients import Array
from scipy import special, stats

from benchmarks.shared.record import Figure, arguments, figure, write_record

CLAIMS = (20, 60, 200)
RARE = (0.03, 0.07, 0.15, 0.27)
SHARES = {"half of its variance between claims": 0.5, "of the claim alone": 1.0}
SIZES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "1 to 5 pairs": lambda random, claims: random.integers(1, 6, claims),
    "1 to 25 pairs, a few of many": lambda random, claims: np.minimum(random.geometric(0.3, claims), 25),
}
ALPHA = 0.05


def study(
    random: np.random.Generator, claims: int, share: float, prevalence: float | None, sizes: str, skewed: bool
) -> tuple[Array, Array, Array]:
    """A characteristic, true for a ``prevalence`` of the pairs or skewed without one, ACU, and each pair's claim."""
    claim = np.repeat(np.arange(claims), SIZES[sizes](random, claims))
    x, y = (
        np.sqrt(of_claim) * random.standard_normal(claims)[claim]
        + np.sqrt(1 - of_claim) * random.standard_normal(len(claim))
        for of_claim in (share, 0.5)
    )
    characteristic = np.exp(x) if prevalence is None else (x > special.ndtri(1 - prevalence)).astype(float)
    return characteristic, np.exp(y) if skewed else y, claim


def figures(studies: int) -> dict[str, Figure]:
    """Shares of the studies with a p-value below 5%, of those that have one: the worst of both coefficients."""
    made: dict[str, Figure] = {}
    for claims, prevalence, (label, share), sizes, skewed in itertools.product(
        CLAIMS, (*RARE, None), SHARES.items(), SIZES, (False, True)
    ):
        random = np.random.default_rng([claims, round(100 * (prevalence or 0)), round(10 * share), len(sizes), skewed])
        found: dict[str, list[list[float]]] = {"pairs": [[], []], "claims": [[], []]}
        for _ in range(studies):
            x, y, claim = study(random, claims, share, prevalence, sizes, skewed)
            if np.ptp(x) == 0:
                continue
            for place, (a, b) in enumerate(((x, y), (stats.rankdata(x), stats.rankdata(y)))):
                found["pairs"][place].append(float(stats.pearsonr(a, b).pvalue))
                if (p := clustered_slope(a, b, claim).p_value) is not None:
                    found["claims"][place].append(p)
        shape = "skewed" if prevalence is None else f"true for {prevalence:.0%}"
        acu = ", skewed ACU" if skewed else ""
        for unit, columns in found.items():
            rates = [float(np.mean(np.array(p) < ALPHA)) if p else 0.0 for p in columns]
            tested = min(len(p) for p in columns)
            goal = (
                f"<= {ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / max(1, tested)):.3f}"
                if unit == "claims" and not skewed
                else ""
            )
            name = f"{claims} claims of {sizes}, {shape}, {label}{acu}, unit {unit}"
            made[name] = figure(max(rates), "", goal)
            if unit == "claims":
                made[f"{name}: share with a test"] = figure(tested / studies)
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--studies", type=int, default=100)
    given = parser.parse_args()
    write_record(
        given, f"{given.studies:,} studies each", figures(given.studies), ["numpy", "scipy"], "docs/error-rates.md"
    )
