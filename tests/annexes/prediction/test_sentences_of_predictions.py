"""What every sentence of the page of predictions claims, computed a second way, as test_every_sentence.py does it.

A number that a page has from shuffled or drawn queries is drawn again here, from other seeds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction import sentences as of_predictions
from ragrelay.annexes.prediction.best import best_predictors
from ragrelay.annexes.prediction.cells import PredictedCell, oriented
from ragrelay.annexes.prediction.decisions import policies
from ragrelay.annexes.prediction.ensembles import ensembles
from ragrelay.annexes.prediction.ensembles import ridge as ridge_of_predictors
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.annexes.prediction.transfer import transfers
from scipy import stats
from sklearn.linear_model import RidgeCV
from statsmodels.stats.multitest import multipletests

from tests.support.approved import approve, not_approved
from tests.support.measured_study import POOL, Measured
from tests.support.sandbox import ROOT
from tests.unit.report.second_way import MADE, PACKAGE, Array, agree, between, drawn, ends, joined, num, per_query

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
WORDS = ("worth using", "no predictor", "not shown", "always", "never", "trained on other")
"""What sentences on predictions tell, with the words of all pages."""

# Predictions: of texts and lengths that the demo and the pool have.


def cells_of(measured: Measured, retrievers: list[str]) -> list[PredictedCell]:
    folder = ROOT / "resources/demo/collection" if measured.name == "demo" else POOL
    queries = dict(line.split("\t") for line in (folder / "queries.tsv").read_text("utf-8").splitlines())
    lengths = {
        row[:3]: row[3]
        for row in measured.answers.filter(pl.col("ordering").is_in(["descending", "none"]))
        .group_by("retriever", "k", "qid")
        .agg(pl.col("answer_tokens").mean())
        .iter_rows()
    }
    measure = {row[:3]: row[3] for row in measured.retrieval.select("retriever", "k", "qid", "value").iter_rows()}
    found, table = [], per_query(measured).filter(ordering="descending", references="lenient")
    for retriever in retrievers:
        for k in measured.grid["k"]:
            rows = table.filter(retriever=retriever, k=k).sort("qid")
            qids = rows["qid"].to_list()
            predictors = {
                "query_length": [float(len(queries[qid].split())) for qid in qids],
                "idf_sum": [float(len(set(queries[qid].lower()))) for qid in qids],
                "zeroshot_answer_length": [lengths["zeroshot", 0, qid] for qid in qids],
                "answer_length": [lengths[retriever, k, qid] for qid in qids],
                "max_score": [measure[retriever, k, qid] for qid in qids],
            }
            p, p0 = rows["p"].to_numpy(), rows["p0"].to_numpy()
            found.append(
                PredictedCell(
                    {"retriever": retriever, "ordering": "descending", "k": k, "references": "lenient"},
                    qids,
                    {name: np.array(values, dtype=float) for name, values in predictors.items()},
                    {"p": p, "gain": p - p0},
                )
            )
    return found


def predicted_study(cells: list[PredictedCell], retrievers: list[str]) -> PredictedStudy:
    """What the sentences are of: every cell's best predictor, and the regressions of the largest k."""
    most = max(int(cell.names["k"]) for cell in cells)
    largest = [cell for cell in cells if cell.names["k"] == most]
    tables = {
        "best": best_predictors(cells, retrievers, 199, 0),
        "ensembles": ensembles(largest, 0),
        "policies": policies(largest, 0),
        "transfer": transfers({"other": largest}, largest, 0),
    }
    return PredictedStudy(KEYS, {f"prediction_{name}": table for name, table in tables.items()}, retrievers)


def unit(column: Array) -> Array:
    centred = column - column.mean()
    return centred / np.linalg.norm(centred)


def shuffled_best(cell: PredictedCell, target: str, times: int = 4000) -> dict[str, Any]:
    """The best predictor of a cell and its chance, with other shuffles than the analysis has."""
    columns = {name: x for name, x in oriented(cell.predictors, target).items() if np.ptp(x) > 0}
    y, random = cell.targets[target], np.random.default_rng(77)
    rhos = {name: float(stats.spearmanr(x, y).statistic) for name, x in columns.items()}
    name = max(rhos, key=lambda one: rhos[one])
    ranks = np.column_stack([unit(stats.rankdata(x)) for x in columns.values()])

    def shares(left: Array, rest: Array, value: float) -> tuple[float, float]:
        largest = (np.array([random.permutation(rest) for _ in range(times)]) @ left).max(axis=1)
        return float((largest >= value - 1e-12).mean()), float(largest.mean())

    p, by_chance = shares(ranks, unit(stats.rankdata(y)), rhos[name])
    row = {"predictor": name, "n_predictors": len(columns), "rho": rhos[name], "p": p, "chance": by_chance}
    of_p0 = stats.rankdata(cell.targets["p"] - cell.targets["gain"])
    design = np.column_stack([np.ones(len(y)), of_p0, of_p0**2])

    def left(column: Array) -> Array:
        ranked = stats.rankdata(column)
        rest: Array = ranked - design @ np.linalg.lstsq(design, ranked)[0]
        return rest

    row["given_p0"] = float(np.corrcoef(left(columns[name]), left(cell.targets["p"]))[0, 1])
    return {**cell.names, **row}


def ridge_of_gain(cell: PredictedCell, x: Array, n: int) -> Array:
    """Predictions of the gain of queries in folds, each less the mean of the queries that its model was fitted on."""
    gain, order = cell.targets["gain"], np.random.default_rng([0, n]).permutation(n) % 5
    said = np.empty(n)
    for fold in range(5):
        there = order == fold
        said[there] = ridge(x[~there], gain[~there], x[there])
    return said


def ridge(x: Array, y: Array, others: Array) -> Array:
    mean, spread = x.mean(axis=0), x.std(axis=0)
    model = RidgeCV(alphas=10.0 ** np.arange(-1, 5)).fit((x - mean) / spread, y)
    predicted: Array = model.predict((others - mean) / spread)
    return predicted


def means_of_others(y: Array) -> Array:
    order = np.random.default_rng([0, len(y)]).permutation(len(y)) % 5
    return np.array([y[order != fold].mean() for fold in order])


BEFORE = ("query_length", "idf_sum", "zeroshot_answer_length", "max_score")
"""What is known before the answer."""


@pytest.mark.parametrize("make", MADE)
def test_predictions_say_what_the_scores_say_and_are_approved(
    make: Callable[[], Measured], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page tells of best predictors, a regression, its transfer to another dataset, and the regret of its use."""
    for module in ("ensembles", "transfer"):
        monkeypatch.setattr(f"ragrelay.annexes.prediction.{module}.MODELS", {"ridge": ridge_of_predictors})
    measured = make()
    retrievers = measured.rankings[:2]
    cells = cells_of(measured, retrievers)
    study = predicted_study(cells, retrievers)
    table = study["prediction_best"]
    expected, k = [], max(measured.grid["k"])
    for target in ("gain", "p"):
        rows = [shuffled_best(cell, target) for cell in cells]
        shown = table.filter(target=target).to_dicts()
        for row, said in zip(rows, shown, strict=True):
            assert said["predictor"] == row["predictor"] and said["p_value"] == pytest.approx(row["p"], abs=0.06)
            row["verdict"] = said["verdict"]
            # A word of drawn p-values is drawn: Holm's are those of the page, if they are Holm's.
            row["p_holm"], row["p_given_p0_holm"] = said["p_holm"], said["p_given_p0_holm"]
        holm = multipletests([said["p_value"] for said in shown], method="holm")[1]
        assert [row["p_holm"] for row in rows] == pytest.approx(list(holm))
        for row in rows:
            beyond = target == "p" or row["p_given_p0_holm"] < 0.05
            word = "undecided" if row["p_holm"] >= 0.05 else "worth using" if beyond else "not beyond P₀"
            assert row["verdict"] == word
        expected.append(best_said(rows))
    named, again = [], []
    for cell in cells:
        if cell.names["k"] == k:
            x = np.column_stack([cell.predictors[name] for name in BEFORE])
            x = x[:, np.ptp(x, axis=0) > 0]
            gain, n = cell.targets["gain"], len(cell.qids)
            said = ridge_of_gain(cell, x, n)
            again.append(float(stats.spearmanr(ridge(x, gain, x), gain).statistic))
            named.append((cell.names["retriever"], said, gain, cell.targets["p"] - gain, cell.targets["p"]))
    rhos = [float(stats.spearmanr(said - means_of_others(gain), gain).statistic) for _, said, gain, *_ in named]
    of_ridge = study["prediction_ensembles"].filter(target="gain", known="before generation", model="ridge", k=k)
    assert of_ridge["rho"].to_list() == pytest.approx(rhos, abs=1e-6)
    intervals = [tuple(row) for row in of_ridge.select("low", "high").iter_rows()]
    assert all(low < rho < high for (low, high), rho in zip(intervals, rhos, strict=True))
    beyond = [row for row in of_ridge.to_dicts() if row["verdict"] == "not beyond P₀"]
    told = [f"{ends(rho, pair, 2)} {one[0]}" for rho, pair, one in zip(rhos, intervals, named, strict=True)]
    only = [f"{row['retriever']} {num(row['given_p0'], 2)} {num(row['rho_with_p'], 2)}" for row in beyond]
    expected.append(f"{k} {joined(told)} 0 {f'{joined(only)} not shown' if only else ''}")
    of_others = study["prediction_transfer"].filter(target="gain", known="before generation", model="ridge", k=k)
    moved = [
        f"{ends(rho, pair, 2)} {one[0]} trained on other"
        for rho, pair, one in zip(again, of_others.select("low", "high").iter_rows(), named, strict=True)
    ]
    expected.append(f"{k} {joined(moved)} 0")
    regrets = []
    for retriever, said, _, p0, p in named:
        most, chosen = np.maximum(p, p0), np.where(said > 0, p, p0)
        better = p if p.mean() > p0.mean() else p0
        lost = [float((most - one).mean()) for one in (chosen, p, p0)]
        own = ends((chosen - better).mean(), between(chosen - better, cautious=False))
        regrets.append(f"{num(lost[0])} {retriever} {num(lost[1])} always {num(lost[2])} never better {own}")
    expected.append(f"above 0 {k} {joined(regrets)}")
    names = {*WORDS, *retrievers, *cells[0].predictors}
    found = of_predictions.prediction_sentences(study)
    agree(found.sentences, expected, names)
    agree(found.limits, ["", "zero-shot worth using", ""], WORDS)
    answers = [answer.sentence for answer in of_predictions.prediction_answers([study])]
    for target, answer in zip(("gain", "p"), answers, strict=True):
        words = table.filter(target=target)["verdict"].to_list()
        rows = [shuffled_best(cell, target) for cell in cells]
        worth = words.count("worth using")
        kept = [row for row, word in zip(rows, words, strict=True) if not worth or word == "worth using"]
        row = max(kept, key=lambda one: one["rho"])
        strong = f"worth using {worth if worth < len(rows) else ''}" if worth else "no predictor worth using"
        cell_of = f"{row['predictor']} {row['retriever']} {row['k']} {num(row['rho'], 2)}"
        agree([answer], [f"{strong} {len(rows)} {cell_of} {drawn(row['chance'], 0.04)}"], names)
    approve(APPROVED / f"{measured.name}.txt", [*answers, *found.sentences, *found.limits])
    verdict = pl.lit("not beyond P₀")
    of_p0 = {name: study[name].with_columns(verdict=verdict) for name in ("prediction_best", "prediction_ensembles")}
    tables = {**study.tables, **of_p0}
    reasons = {"p_value": pl.lit(None, pl.Float64), "reason": pl.lit("fewer than 10 queries")}
    none = {**study.tables, "prediction_best": table.with_columns(**reasons)}
    states = [PredictedStudy(KEYS, of, retrievers) for of in (tables, none)]
    said = [
        text for answer in of_predictions.prediction_answers(states[1:]) for text in (answer.question, answer.sentence)
    ]
    said += [text for state in states for text in of_predictions.prediction_sentences(state).sentences]
    approve(APPROVED / f"states-of-{measured.name}.txt", said)


def best_said(rows: list[dict[str, Any]]) -> str:
    """Rho of the best predictor with the gain, or P | rankings, first references | cells of retriever and k with a test
    | largest rho on shuffled targets, Holm over cells; of the gain also partial rho with P given P₀."""
    rows = sorted(rows, key=lambda row: -row["rho"])
    worth, by_p0 = ([row for row in rows if row["verdict"] == word] for word in ("worth using", "not beyond P₀"))

    def p(value: float) -> str:
        return "< 0.001" if value < 0.001 else f"{value:.3f}"

    def shown(row: dict[str, Any]) -> str:
        return f"{row['predictor']} {row['retriever']} {row['k']} {num(row['rho'], 2)}"

    def by_chance(row: dict[str, Any]) -> str:
        return f"{shown(row)} {row['n_predictors']} {drawn(row['chance'], 0.04)} {p(row['p_holm'])}"

    more = str(len(worth) - 4) if len(worth) > 4 else ""
    said = (
        f"{len(worth) if len(worth) < len(rows) else ''} {len(rows)} worth using "
        f"{joined(map(by_chance, worth[:4]))} {more}"
        if worth
        else f"no predictor worth using {len(rows)} {by_chance(rows[0])}"
    )
    if not by_p0:
        return said
    row = by_p0[0]
    of_p0 = f"{len(by_p0) if len(by_p0) < len(rows) else ''} {len(rows)} not shown zero-shot {shown(row)}"
    return f"{said} {of_p0} {num(row['given_p0'], 2)} {p(row['p_given_p0_holm'])}"


KEYS = {"dataset": "d", "generator": "lm", "scorer": "s"}


def test_a_text_of_the_page_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/prediction/sentences.py", APPROVED) == []
