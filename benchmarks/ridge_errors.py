"""How often a regression of the gain is called worth using where it follows P₀ alone (docs/predict.md).

    python benchmarks/ridge_errors.py --out benchmarks/results/ridge_errors.json

Draws studies in which contexts are as good as none, while half of the predictors of the answers without context follow
P₀, and takes the three tests of prediction_ensembles of a ridge regression. Seeded.
"""

import numpy as np
from ragrelay.annexes.prediction.cells import GAIN, P
from ragrelay.annexes.prediction.ensembles import MODELS, POST, RIDGE, beyond, judged, matrix

from benchmarks.shared.predicted_cells import exchangeable_cells
from benchmarks.shared.record import Figure, arguments, figure, write_record

QUERIES, ALPHA, PERMUTATIONS = 43, 0.05, 199
CORRELATIONS = (0.3, 0.6, 0.9)
TESTS = ("follows the gain", "and P given P₀", "and P: worth using")


def found(study: int, r: float) -> list[bool]:
    """Whether the predictions of one study pass each of TESTS and those before it."""
    (cell,) = exchangeable_cells(QUERIES, r, study, 1)
    (_, x), gain, p = matrix(cell, POST), cell.targets[GAIN], cell.targets[P]
    first = judged(MODELS[RIDGE], x, gain, study, PERMUTATIONS)
    if first.get("p_value", 1.0) >= ALPHA or first["rho"] <= 0:
        return [False, False, False]
    more = beyond(MODELS[RIDGE], x, p, p - gain, study, PERMUTATIONS)
    given = more["p_given_p0"] < ALPHA
    return [True, given, given and more["p_with_p"] < ALPHA]


def figures(studies: int) -> dict[str, Figure]:
    made = {}
    goal = f"<= {ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / studies):.3f}"
    for r in CORRELATIONS:
        rates = np.mean([found(study, r) for study in range(studies)], axis=0)
        for name, rate in zip(TESTS, rates, strict=True):
            made[f"r = {r} with P₀: {name}"] = figure(float(rate), "", goal if name == TESTS[-1] else "")
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--studies", type=int, default=60)
    given = parser.parse_args()
    setting = f"{given.studies} studies each, {QUERIES} queries, 20 predictors, {PERMUTATIONS} permutations"
    write_record(given, setting, figures(given.studies), ["numpy", "scipy", "scikit-learn"], "docs/predict.md")
