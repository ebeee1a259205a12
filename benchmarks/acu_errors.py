"""How often tests of a characteristic and ACU find something where there is nothing: pairs, or claims, as the unit.

    python benchmarks/acu_errors.py --out acu_errors.json

Draws claims with one to five pairs each, ACU and a characteristic that are unrelated and both alike within a claim, and
takes the workflow's own tables of them. Seeded.
"""

import numpy as np
import polars as pl
from ragrelay.claims.characteristic_columns import NAMES
from ragrelay.claims.correlations import COEFFICIENTS, correlations
from ragrelay.claims.usage import ALL, UNITS

from benchmarks.shared.record import Figure, arguments, figure, write_record

SIZES = (20, 60, 200)
PAIRS = (1, 5)
SHARES = {"half of its variance between claims": 0.5, "of the claim alone": 1.0}
# Too few claims have it for a jackknife: recorded, no goal.
RARE = "true for 7%"
SHAPES = {
    "normal": lambda x: x,
    "skewed": lambda x: np.round(20 * np.exp(x)),
    "true for 27%": lambda x: (x > 0.6).astype(float),
    RARE: lambda x: (x > 1.5).astype(float),
}
RESAMPLES = 2
ALPHA, LEVEL = 0.05, "<= 0.08"


def study(random: np.random.Generator, claims: int, share: float) -> pl.DataFrame:
    """Pairs of unrelated ACU and characteristics, one per shape; all others are constant."""
    claim = np.repeat(np.arange(claims), random.integers(PAIRS[0], PAIRS[1] + 1, claims))
    acu, *columns = (
        np.sqrt(of_claim) * random.standard_normal(claims)[claim]
        + np.sqrt(1 - of_claim) * random.standard_normal(len(claim))
        for of_claim in (0.5, *[share] * len(SHAPES))
    )
    shaped = dict(zip(NAMES, (of(x) for of, x in zip(SHAPES.values(), columns, strict=True)), strict=False))
    return pl.DataFrame({"claim_id": claim, "acu": acu}).with_columns(
        **{unit: pl.lit("one") for unit in UNITS},
        evidence_stance=pl.lit("other"),
        **{name: pl.Series(shaped[name]) if name in shaped else pl.lit(0.0) for name in NAMES},
    )


def figures(studies: int) -> dict[str, Figure]:
    """Shares of the studies with a p-value below 5%, of those that have one."""
    made: dict[str, Figure] = {}
    for claims in SIZES:
        for label, share in SHARES.items():
            random = np.random.default_rng([claims, round(10 * share)])
            found = pl.concat([correlations(study(random, claims, share), RESAMPLES, 0) for _ in range(studies)])
            for name, shape in zip(NAMES, SHAPES, strict=False):
                for coefficient in COEFFICIENTS:
                    rows = found.filter(stance=ALL, characteristic=name, coefficient=coefficient)
                    for column, unit in (("p_value", "pairs"), ("p_claims", "claims")):
                        rate = float((rows[column].drop_nulls() < ALPHA).mean() or 0.0)
                        goal = LEVEL if unit == "claims" and claims >= 200 and shape != RARE else ""
                        made[f"{claims} claims, {shape}, {label}, {coefficient}, unit {unit}"] = figure(rate, "", goal)
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--studies", type=int, default=1_000)
    given = parser.parse_args()
    write_record(given, f"{given.studies:,} studies each", figures(given.studies), ["numpy", "scipy"])
