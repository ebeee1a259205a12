"""Error rates and coverage of what is said about predictors, on simulated studies: the table in docs/predict.md.

    python benchmarks/prediction_errors.py --out prediction_errors.json

Draws studies in which predictors are noise or have a known correlation with P, and takes the workflow's own tables of
them: how often the page calls a predictor of noise worth using, what 95% intervals cover, what regressions on noise
gain, and what they would seem to gain if the tested queries chose the predictor. Seeded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from ragrelay.annexes.prediction.accuracy import accuracies, rho_difference
from ragrelay.annexes.prediction.best import NOT_BEYOND, WORTH_USING, best_predictors
from ragrelay.annexes.prediction.cells import GAIN, P, PredictedCell
from ragrelay.annexes.prediction.correlations import predictor_correlations
from ragrelay.annexes.prediction.decisions import policies
from ragrelay.annexes.prediction.ensembles import (
    BOOSTING,
    COLUMNWISE,
    MODELS,
    POST,
    SINGLE,
    Fitted,
    best_single,
    judged,
    matrix,
)
from ragrelay.annexes.prediction.transfer import judged_elsewhere
from scipy import stats

from benchmarks.shared import model_columns
from benchmarks.shared.predicted_cells import cell, exchangeable_cells
from benchmarks.shared.record import Figure, arguments, figure, write_record

Array = np.ndarray
SIZES = (20, 43)
CELLS, NOISE, SHUFFLES, RESAMPLES = 3, 20, 999, 500
R, KNOWN, ALPHA = 0.5, "nqc", 0.05
TRUTH_QUERIES = 1_000_000
LEVEL, COVERS = "<= 0.08", "0.92 to 0.98"
TRUTH: Mapping[str, float] = {
    "pearson": R,
    "spearman": 6 / np.pi * np.arcsin(R / 2),
    "kendall": 2 / np.pi * np.arcsin(R),
}


def alike(one: PredictedCell, seed: int) -> PredictedCell:
    """``one`` with predictors that correlate with each other, are skewed and rounded, and have nine in ten values."""
    random = np.random.default_rng([seed, 7])
    shared = random.standard_normal(len(one.qids))

    def shaped(x: Array) -> Array:
        return np.where(random.random(len(x)) < 0.1, np.nan, np.round(np.exp(0.7 * shared + 0.7 * x), 1))

    return replace(one, predictors={name: shaped(x) for name, x in one.predictors.items()})


def said(studies: int, n: int, r: float, related: bool = False) -> dict[str, float]:
    """Share of studies of CELLS cells in which the page calls a predictor worth using, by target, and for either."""
    found = []
    for study in range(studies):
        cells = [cell(n, {KNOWN: r}, CELLS * study + place, NOISE, k=place + 1) for place in range(CELLS)]
        cells = [replace(one, targets={name: one.targets[name] for name in (P, GAIN)}) for one in cells]
        shown = [alike(one, study) for one in cells] if related else cells
        worth = best_predictors(shown, ["bm25"], SHUFFLES, study).filter(verdict=WORTH_USING)
        found.append([not worth.filter(target=P).is_empty(), not worth.filter(target=GAIN).is_empty()])
    rates = np.array(found)
    return {"quality P": rates[:, 0].mean(), "gain": rates[:, 1].mean(), "either": rates.any(axis=1).mean()}


def said_on_a_models_answers(studies: int) -> dict[str, float]:
    """As ``said``, of noise: P, P_0 and gain are a language model's answers to resampled queries (model_columns.py)."""
    rows = model_columns.packed().filter(~pl.col("retriever").is_in(model_columns.ORACLES), references="lenient")
    of_runs = rows.sort("k", "qid").partition_by("retriever")
    found = []
    for study in range(studies):
        random = np.random.default_rng([study, 43])
        run = of_runs[study % len(of_runs)]
        cells = []
        for place, of_k in enumerate(run.partition_by("k", maintain_order=True)):
            at = np.random.default_rng(study).integers(0, of_k.height, of_k.height)
            p, p0, ndcg = (of_k[name].to_numpy()[at] for name in ("p", "p0", "ndcg"))
            one = cell(of_k.height, {}, int(random.integers(2**31)), NOISE + 1, k=place + 1)
            cells.append(replace(one, targets={P: p, GAIN: p - p0, "nDCG": ndcg}))
        worth = best_predictors(cells, ["bm25"], SHUFFLES, study).filter(verdict=WORTH_USING)
        found.append([not worth.filter(target=P).is_empty(), not worth.filter(target=GAIN).is_empty()])
    return dict(zip(("quality P", "gain"), np.mean(found, axis=0), strict=True))


def said_of_noise_in_p0(studies: int, n: int, rho: float) -> dict[str, float]:
    """Share of studies whose contexts add nothing with each word on the gain, of predictors that follow P_0."""
    words: list[set[str]] = []
    for study in range(studies):
        table = best_predictors(exchangeable_cells(n, rho, study, CELLS), ["bm25"], SHUFFLES, study)
        words.append(set(table.filter(target=GAIN)["verdict"]))
    return {word: float(np.mean([word in one for one in words])) for word in (WORTH_USING, NOT_BEYOND)}


def covered(studies: int, n: int) -> dict[str, float]:
    """Share of 95% intervals that contain the truth: of correlations and AUROC of a predictor, of sMARE of noise."""
    inside: dict[str, list[bool]] = {}
    truth = {**TRUTH, "auroc": true_auroc()}
    for study in range(studies):
        one = cell(n, {KNOWN: R, "wig": 0.0}, study)
        one = replace(one, targets={name: one.targets[name] for name in (P, GAIN)})
        alone = replace(one, targets={P: one.targets[P]}, predictors={KNOWN: one.predictors[KNOWN]})
        rows = predictor_correlations([alone], RESAMPLES, study)
        ends = {name: (low, high) for name, low, high in rows.select("coefficient", "low", "high").iter_rows()}
        exact = accuracies([one])
        found = exact.filter(statistic="auroc", predictor=KNOWN).row(0, named=True)
        ends["auroc"] = found["low"], found["high"]
        for name, (low, high) in ends.items():
            if low is not None:
                inside.setdefault(name, []).append(low < truth[name] < high)
        ranks = exact.filter(statistic="smare", target=P, predictor="wig").row(0, named=True)
        inside.setdefault("smare of noise", []).append(ranks["low"] < ranks["chance"] < ranks["high"])
    return {name: float(np.mean(hits)) for name, hits in inside.items()}


def true_auroc() -> float:
    """Of KNOWN for a gain above 0, of a very large sample."""
    one = cell(TRUTH_QUERIES, {KNOWN: R}, 0)
    helped, x = one.targets[GAIN] > 0, stats.rankdata(one.predictors[KNOWN])
    n = int(helped.sum())
    return float((x[helped].sum() - n * (n + 1) / 2) / (n * (len(x) - n)))


def told_apart(studies: int, n: int) -> float:
    """Share of studies in which two equally good predictors differ at 5%."""
    random, found = np.random.default_rng([3, n]), []
    for _ in range(studies):
        y, first, second = random.standard_normal((3, n))
        row = rho_difference(0.5 * y + first, 0.5 * y + second, y)
        found.append(row.get("p_value", 1.0) < ALPHA)
    return float(np.mean(found))


def regressed(studies: int, n: int, r: float) -> Iterator[tuple[str, str, float]]:
    """Model, what, value: mean rho over queries, and the share of studies in which it is above 0 at 5%.

    Of regressions of P by nested cross-validation, of a predictor chosen on all queries, and of regressions that were
    fitted on another study. Boosting takes long, so that it is tried on a fifth of the studies.
    """
    found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for study in range(studies):
        one, other = (cell(n, {KNOWN: r}, seed, 2 * NOISE) for seed in (study, 10_000 + study))
        (_, x), (_, unseen) = matrix(one, POST), matrix(other, POST)
        y, target = one.targets[P], other.targets[P]
        for name, model in MODELS.items():
            if name == BOOSTING and study >= studies // 5:
                continue
            tested = SHUFFLES if name in COLUMNWISE else 0
            found.setdefault((name, "nested cross-validation"), []).append(judged(model, x, y, study, tested))
            found.setdefault((name, "fitted on another study"), []).append(
                judged_elsewhere(model, x, y, unseen, target, study)
            )
        chosen = best_single(x, y, study)
        leaking = judged(lambda *given, chosen=chosen: Fitted(chosen.predict), x, y, study, 0)
        found.setdefault((SINGLE, "chosen on all queries"), []).append(leaking)
    for (name, what), rows in found.items():
        yield name, f"{what}: mean ρ", float(np.mean([row.get("rho", 0.0) for row in rows]))
        above = [row.get("rho", 0.0) > 0 and row.get("p_value", 1.0) < ALPHA for row in rows]
        if any("p_value" in row for row in rows):
            yield name, f"{what}: share above 0 at 5%", float(np.mean(above))
            yield name, f"{what}: share found at 5%", float(np.mean([row.get("p_value", 1.0) < ALPHA for row in rows]))


def decided(studies: int, n: int) -> float:
    """Share of studies in which use of the context by predictors of noise beats the best fixed choice at 5%."""
    rows = pl.concat([policies([cell(n, {KNOWN: 0.0}, study, NOISE)], study) for study in range(studies)])
    predicted = rows.filter(policy="predicted")
    return float(((predicted["fixed_p"] < ALPHA) & (predicted["better_than_fixed"] > 0)).fill_null(False).mean() or 0)


def figures(studies: int) -> dict[str, Figure]:
    """All figures by label."""
    made: dict[str, Figure] = {}
    for n in SIZES:
        for label, related in {"noise": False, "noise, alike, skewed, values missing": True}.items():
            for target, rate in said(studies, n, 0.0, related).items():
                goal = LEVEL if target != "either" else ""
                made[f"worth using: {label}, {n} queries, {target}"] = figure(rate, "", goal)
    for target, rate in said_on_a_models_answers(studies).items():
        made[f"worth using: noise, a language model's answers to 43 queries, {target}"] = figure(rate, "", LEVEL)
    for n in SIZES:
        for rho in (0.3, 0.6):
            for word, rate in said_of_noise_in_p0(studies, n, rho).items():
                goal = LEVEL if word == WORTH_USING else ""
                made[f"{word}: of the gain by contexts as good as none, r = {rho} with P_0, {n} queries"] = figure(
                    rate, "", goal
                )
    for target, rate in said(studies // 5, SIZES[-1], R).items():
        made[f"worth using: one of r = {R} with P among noise, {SIZES[-1]} queries, {target}"] = figure(rate)
    for n in SIZES:
        made |= {
            f"coverage: {name}, {n} queries": figure(rate, "", COVERS) for name, rate in covered(studies, n).items()
        }
        made[f"two equally good predictors differ, {n} queries"] = figure(told_apart(2 * studies, n), "", LEVEL)
    for label, r in {"noise": 0.0, f"one of r = {R} among noise": R}.items():
        for model, what, value in regressed(studies // 5, SIZES[-1], r):
            promised = r == 0 and "share" in what and "all queries" not in what and model != BOOSTING
            goal = LEVEL if promised else ""
            made[f"{label}, {SIZES[-1]} queries, {model}, {what}"] = figure(value, "", goal)
    made[f"noise better than the best fixed choice, {SIZES[-1]} queries"] = figure(
        decided(studies, SIZES[-1]), "", LEVEL
    )
    return made


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--studies", type=int, default=200)
    given = parser.parse_args()
    setting = (
        f"{given.studies} studies, {given.studies // 5} for regressions; {NOISE + 1} and {2 * NOISE + 1} predictors"
    )
    write_record(given, setting, figures(given.studies), ["numpy", "scipy", "scikit-learn"])
