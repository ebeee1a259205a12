"""Every sentence of the pages predict, labels, claims and reproduce, with its numbers computed a second way.

As test_every_sentence.py does it for a study's page: from the single scores, answers and measures of the demo and of
public runs, by numpy, scipy, statsmodels and scikit-learn. ``LISTED`` says what each sentence claims. A number that a
page has from shuffled or drawn queries is drawn again here, from other seeds: ``{0.123~0.02}`` in an expected text is
a number of the page within 0.02 of 0.123.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from ragrelay.analysis.judge_checks import analyse_judge_checks
from ragrelay.annexes.acu import sentences as of_claims
from ragrelay.annexes.labels import sentences as of_labels
from ragrelay.annexes.labels import trust_page as of_trust
from ragrelay.annexes.labels.agreement import Scale, agreement_tables
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.leads import leads
from ragrelay.annexes.labels.study import TABLES, AnnotationStudy, JudgeTrust
from ragrelay.annexes.labels.study_tables import gather
from ragrelay.annexes.labels.values import SCHEMA as VALUES
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.annexes.prediction import sentences as of_predictions
from ragrelay.annexes.prediction.best import best_predictors
from ragrelay.annexes.prediction.cells import PredictedCell, oriented
from ragrelay.annexes.prediction.decisions import policies
from ragrelay.annexes.prediction.ensembles import ensembles
from ragrelay.annexes.prediction.ensembles import ridge as ridge_of_predictors
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.annexes.prediction.transfer import transfers
from ragrelay.annexes.reproduction import page as of_reproduction
from ragrelay.annexes.reproduction.cells import COLUMNS as CELL_TABLE
from ragrelay.annexes.reproduction.cells import with_difference
from ragrelay.annexes.reproduction.findings import paper_findings
from ragrelay.annexes.reproduction.measures import cell_summary
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.vocabulary.columns import named, schema_of
from scipy import stats
from sklearn.linear_model import RidgeCV
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.annexes.acu.claims_study import study_of as claims_study
from tests.support.measured_study import POOL, Measured
from tests.support.measured_study import demo as make_demo
from tests.support.measured_study import pool as make_pool
from tests.support.sandbox import ROOT
from tests.unit.report.test_every_sentence import (
    PACKAGE,
    between,
    chance,
    ends,
    joined,
    many,
    no_pool,
    num,
    p_cautious,
    unlisted,
    word_of,
)

pytestmark = pytest.mark.page
Array = npt.NDArray[np.float64]
LISTED: dict[str, tuple[str, str, str, str]] = {
    "worth using": (
        "Spearman's rho of the best predictor with the gain P − P₀, or P",
        "rankings, first references",
        "cells of retriever and k with a test",
        "largest rho on shuffled targets, Holm over cells; of the gain also partial rho with P given P₀",
    ),
    "regression": ("rho of out-of-fold predictions with the gain", "largest k", "queries", "permuted through the fits"),
    "transfer": ("rho of predictions by another dataset's model", "largest k", "queries", "jackknife on Fisher's z"),
    "regret": ("mean of max(P, P₀) less P of the policy", "largest k", "queries", "t and Hall's, of the difference"),
    "labels within queries": (
        "repeated-measures r of a source's measure with P",
        "descending, largest k, first references",
        "retrievers; queries",
        "Fieller and jackknife",
    ),
    "labels choose": ("mean P with the chosen context less any", "as before", "queries", "cautious t, Holm"),
    "labels over queries": ("Kendall's tau", "as before, per retriever", "columns", "paired bootstrap, Holm"),
    "trust in judges": ("Cohen's kappa of relevant or not", "pairs that both label", "pairs", "interval over queries"),
    "checks of judges": (
        "mean change of the score; rho",
        "checked passages",
        "queries",
        "t and Hall's, Holm; jackknife",
    ),
    "evidence": ("mean ACU; shares of predictions", "one set, generator, template", "pairs and claims", "BCa, claims"),
    "published": ("share of published values in our intervals; RMSE, tau", "cells of both", "cells", "none"),
    "findings of the paper": ("mean r, slope of r, difference of P", "rankings", "tests", "jackknife; paired t"),
}
"""Estimand, rows, n and test of every kind of sentence."""


def agree(found: Iterable[str], expected: Iterable[str]) -> None:
    """Each text of ``found`` is that of ``expected`` in its place, drawn numbers within their tolerance."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected), found
    for text, wanted in zip(found, expected, strict=True):
        drawn = re.findall(r"\{(−?[\d.]+)~([\d.]+)\}", wanted)
        pattern = r"(−?[\d.]+|<0.001)".join(map(re.escape, re.split(r"\{−?[\d.]+~[\d.]+\}", wanted)))
        match = re.fullmatch(pattern, text)
        assert match, f"\non the page:     {text}\nfrom the scores: {wanted}"
        for said, (value, within) in zip(match.groups(), drawn, strict=True):
            assert abs(read(said) - read(value)) <= float(within), f"{said} in: {text}\nfrom the scores: {wanted}"


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("<0.001", "0.0005"))


def drawn(value: float, within: float, digits: int = 2) -> str:
    return "{" + f"{num(value, digits)}~{within}" + "}"


def per_query(measured: Measured) -> pl.DataFrame:
    """retriever, ordering, k, references, qid, p, p0, utility: means over seeds, without the analysis."""
    means = measured.scores.group_by("retriever", "ordering", "k", "references", "qid").agg(p=pl.col("f1").mean())
    zero = means.filter(retriever="zeroshot").select("references", "qid", p0="p")
    found = means.filter(pl.col("k") > 0, pl.col("ordering") != "none").join(zero, on=["references", "qid"])
    relative = pl.when(pl.col("p0") > 0).then((pl.col("p") - pl.col("p0")) / pl.col("p0"))
    return found.with_columns(utility=relative).sort("retriever", "ordering", "k", "references", "qid")


demo, pool = functools.cache(make_demo), functools.cache(make_pool)
MADE = [demo, pytest.param(pool, marks=no_pool)]


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
def test_predictions_say_what_the_scores_say(make: Callable[[], Measured], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ensembles", "transfer"):
        monkeypatch.setattr(f"ragrelay.annexes.prediction.{module}.MODELS", {"ridge": ridge_of_predictors})
    measured = make()
    retrievers = measured.rankings[:2]
    cells = cells_of(measured, retrievers)
    study = predicted_study(cells, retrievers)
    table = study["prediction_best"]
    expected, k = [], max(measured.grid["k"])
    for target, what in (("gain", "the gain P − P₀ of a context"), ("p", "the quality P of the answer")):
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
        expected.append(best_said(rows, target, what))
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
    told = [f"{ends(rho, pair, 2)} for {one[0]}" for rho, pair, one in zip(rhos, intervals, named, strict=True)]
    only = [
        f"{row['retriever']} (ρ {num(row['given_p0'], 2)} with P given P₀, {num(row['rho_with_p'], 2)} with P)"
        for row in beyond
    ]
    expected.append(
        "A ridge regression on all predictors that need no answer to the context follows the gain of queries that it "
        f"was not fitted on with ρ {joined(told)} (k = {k}); predictors of noise have 0 or a little less."
        + (
            f" For {joined(only)} it is not shown to say more than P₀ does: selective retrieval by it, and its curve, "
            "may gain from the noise in P₀ alone, which other seeds don’t share."
            if only
            else ""
        )
    )
    of_others = study["prediction_transfer"].filter(target="gain", known="before generation", model="ridge", k=k)
    moved = [
        f"{ends(rho, pair, 2)} for {one[0]}, trained on other,"
        for rho, pair, one in zip(again, of_others.select("low", "high").iter_rows(), named, strict=True)
    ]
    expected.append(
        f"The same regression trained on the queries of another dataset follows the gain here, at k = {k}, with ρ "
        f"{joined(moved)} where chance gives 0."
    )
    regrets = []
    for retriever, said, _, p0, p in named:
        most, chosen = np.maximum(p, p0), np.where(said > 0, p, p0)
        better = p if p.mean() > p0.mean() else p0
        lost = [float((most - one).mean()) for one in (chosen, p, p0)]
        regrets.append(
            f"{retriever}: {num(lost[0])}, always {num(lost[1])}, never {num(lost[2])} (mean P less that of the "
            f"better of both: {ends((chosen - better).mean(), between(chosen - better, cautious=False))})"
        )
    expected.append(
        f"Regret of using the context where the predicted gain is above 0, at k = {k}: {'; '.join(regrets)}."
    )
    found = of_predictions.prediction_sentences(study)
    agree(found.sentences, expected)
    assert found.limits == LIMITS_OF_PREDICTIONS
    for target, answer in zip(("gain", "p"), of_predictions.prediction_answers([study]), strict=True):
        rows = [shuffled_best(cell, target) for cell in cells]
        worth = table.filter(target=target, verdict="worth using")["retriever"].len()
        kept = [
            row
            for row, word in zip(rows, table.filter(target=target)["verdict"], strict=True)
            if not worth or word == "worth using"
        ]
        row = max(kept, key=lambda one: one["rho"])
        strong = (
            f"A predictor is worth using in {worth} of {many(len(rows), 'cell')}"
            if worth
            else f"No predictor is shown to be worth using in any of {many(len(rows), 'cell')}"
        )
        agree(
            [answer.sentence],
            [
                f"{strong}: strongest {row['predictor']}, {row['retriever']}, k = {row['k']}: ρ {num(row['rho'], 2)}, "
                f"by chance {drawn(row['chance'], 0.04)}."
            ],
        )


def best_said(rows: list[dict[str, Any]], target: str, what: str) -> str:
    rows = sorted(rows, key=lambda row: -row["rho"])
    worth, by_p0 = ([row for row in rows if row["verdict"] == word] for word in ("worth using", "not beyond P₀"))

    def p(value: float) -> str:
        return "<0.001" if value < 0.001 else f"{value:.3f}"

    def shown(row: dict[str, Any]) -> str:
        return (
            f"{row['predictor']} ({row['retriever']}, k = {row['k']}): ρ {num(row['rho'], 2)}; by chance the best of "
            f"{row['n_predictors']} predictors has {drawn(row['chance'], 0.04)} (p {p(row['p_holm'])} after Holm’s "
            "correction)"
        )

    cells = many(len(rows), "cell")
    beyond = ", beyond what P₀ tells of it" if target == "gain" else ""
    more = f"; {len(worth) - 4} more are in the table" if len(worth) > 4 else ""
    said = (
        f"Worth using as a predictor of {what}{beyond}, in {len(worth)} of {cells} (retriever and k): "
        f"{'; '.join(map(shown, worth[:4]))}{more}."
        if worth
        else f"No predictor of {what} is worth using in any of {cells} (retriever and k). The largest ρ is that of "
        f"{shown(rows[0])}."
    )
    if not by_p0:
        return said
    row = by_p0[0]
    return said + (
        f" In {len(by_p0)} of {cells} the best predictor follows the gain, but is not shown to say more than P₀ "
        f"does: it "
        "may predict the quality of the answer without context, or the noise in it, and not what the context adds. "
        "Such "
        f"is {row['predictor']} ({row['retriever']}, k = {row['k']}): ρ {num(row['rho'], 2)} with the gain, "
        f"{num(row['given_p0'], 2)} with P given P₀ (p {p(row['p_given_p0_holm'])} after Holm’s correction)."
    )


KEYS = {"dataset": "d", "generator": "lm", "scorer": "s"}
LIMITS_OF_PREDICTIONS = [
    "Predictors are related to one another, and many are compared: a predictor that follows P here need not do so on "
    "other queries. The numbers of the regressions are of queries that no model was fitted on.",
    "The gain contains P₀ with its noise over seeds. Predictors of the answer without context, and regressions on "
    "them, "
    "follow that noise even where contexts add nothing; “worth using” is said of what follows P given P₀ too.",
    "A predictor from scores or dense vectors is made for one retriever: its values are not comparable between "
    "retrievers.",
]


NO_PREDICTOR = ("We do not know: no predictor could be tested", "could be tested (", "No predictor of ")
"""Of cells without a test: tests/annexes/prediction/test_prediction_page.py."""


# Labels: nDCG by the judgements, the answers' lengths, and P_0 as the null.


def values_of(measured: Measured, table: pl.DataFrame) -> pl.DataFrame:
    """retriever, k, references, qid, source, measure, value, n_ranked."""
    keys = ["retriever", "k", "references", "qid"]
    here = table.filter(ordering="descending")
    lengths = (
        measured.answers.filter(ordering="descending")
        .group_by("retriever", "k", "qid")
        .agg(value=pl.col("answer_tokens").mean())
    )
    of_ndcg = measured.retrieval.select("retriever", "k", "qid", "value")
    parts = [
        here.join(frame, on=["retriever", "k", "qid"]).select(*keys, "value", source=pl.lit(name))
        for name, frame in (("qrels", of_ndcg), ("length", lengths))
    ]
    parts.append(here.select(*keys, value="p0", source=pl.lit("p0")))
    values = pl.concat(parts).with_columns(measure=pl.lit("nDCG"), n_ranked=pl.col("k"))
    return values.filter(pl.col("retriever").is_in(measured.rankings))


def labelled(measured: Measured, folder: Path) -> AnnotationStudy:
    table = per_query(measured).filter(pl.col("retriever").is_in(measured.rankings), references="lenient")
    values, kinds = values_of(measured, table), dict.fromkeys(measured.rankings, "run")
    correlations = label_correlations(values, table, 300, 0)
    made = [
        correlations,
        leads(correlations, values, table, 500, 0, ["p0"]),
        label_within(values, table, kinds, ["p0"]),
        label_choices(values, table, kinds, ["p0"]),
    ]
    files = [[folder / f"{place}.csv"] for place in range(len(made))]
    for frame, (path,) in zip(made, files, strict=True):
        write_csv(named(frame, {"dataset": measured.name, "generator": "lm", "scorer": "s"}), path)
    none = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    gathered = gather(*files, kinds={"qrels": "qrels", "length": "file", "p0": "zeroshot"})
    return AnnotationStudy("s", none | gathered, pl.DataFrame())


def columns_of(measured: Measured) -> dict[tuple[str, str], dict[str, tuple[float, float, float]]]:
    """By source and retriever: value, P and utility of each query, at the largest k."""
    table = per_query(measured).filter(references="lenient", ordering="descending", k=max(measured.grid["k"]))
    rows = values_of(measured, table).join(
        table.select("retriever", "k", "references", "qid", "p", "utility"), on=["retriever", "k", "references", "qid"]
    )
    found: dict[tuple[str, str], dict[str, tuple[float, float, float]]] = {}
    for source, retriever, qid, *three in rows.select(
        "source", "retriever", "qid", "value", "p", "utility"
    ).iter_rows():
        found.setdefault((source, retriever), {})[qid] = tuple(three)
    return found


def followed() -> Measured:
    """The demo with P and some noise in place of nDCG, so that the labels of qrels choose better contexts."""
    p = per_query(demo()).filter(ordering="descending", references="lenient")
    value = pl.col("p") + pl.Series(np.random.default_rng(3).normal(0, 0.05, p.height))
    return replace(demo(), retrieval=p.select("retriever", "k", "qid", measure=pl.lit("nDCG"), value=value))


@pytest.mark.parametrize("make", [*MADE, followed])
def test_labels_say_what_the_scores_say(make: Callable[[], Measured], tmp_path: Path) -> None:
    measured = make()
    measured = replace(measured, grid={**measured.grid, "retrievers": measured.rankings[:3]})
    shown, columns = labelled(measured, tmp_path), columns_of(measured)
    agree(of_labels.label_sentences(shown), list(labels_said(measured, shown, columns)))
    chosen = {source: chosen_by(columns, source, measured.rankings) for source in ("qrels", "length")}
    answer, where = of_labels.label_answer(shown), f"{measured.name} · lm"
    better = {name: values for name, values in chosen.items() if word_of(values, *between(values)) == "better"}
    assert make is not followed or better
    if not better:
        assert answer.sentence == f"No source’s labels are shown to choose better contexts than chance: {where}."
        return
    names = sorted(better, key=lambda name: -better[name].mean())
    most = better[names[0]]
    assert answer.sentence == (
        f"Labels of {joined(names)} choose better contexts than chance: mean P changes by "
        f"{ends(most.mean(), between(most))} with {names[0]}, up to {many(len(most), 'query', 'queries')}; {where}."
    )


def chosen_by(columns: Any, source: str, rankings: list[str], place: int = 1) -> Array:
    """Per query P (1) or utility (2) with the context of the highest value, less the mean over contexts."""
    qids = sorted({qid for name in rankings for qid in columns[source, name]})
    found = []
    for qid in qids:
        of_query = [columns[source, name][qid] for name in rankings if qid in columns[source, name]]
        of_query = [one for one in of_query if one[0] is not None and one[place] is not None]
        if len(of_query) > 1:
            most = max(one[0] for one in of_query)
            best = [one[place] for one in of_query if one[0] >= most - 1e-9]
            found.append(np.mean(best) - np.mean([one[place] for one in of_query]))
    values = np.array(found)
    return np.where(np.abs(values) < 1e-12, 0.0, values)


def labels_said(measured: Measured, shown: AnnotationStudy, columns: Any) -> Iterator[str]:
    where, rankings, k = f"{measured.name} · lm", measured.rankings, max(measured.grid["k"])
    of_r = []
    for source in ("qrels", "length"):
        r, (low, high), word = within_said(columns, source, rankings, shown)
        of_r.append(f"{source} {ends(r, (low, high))} ({word})")
    yield (
        f"{where}, within queries over {len(rankings)} retrievers, r between nDCG and P: {joined(of_r)} and undefined "
        "for p0 (all passages of a query have the same label)."
    ).replace(" and length", ", length" if len(of_r) == 2 else " and length")
    tested = {source: chosen_by(columns, source, rankings) for source in ("length", "qrels")}
    words = {source: word_of(values, *between(values)) for source, values in tested.items()}
    p = multipletests([p_cautious(values) for values in tested.values()], method="holm")[1]
    texts = {"better": "better with", "worse": "worse with", "undecided": "undecided with",
             "too few queries": "of too few queries to say with"}  # fmt: skip
    shown_of = {one: f"{one} ({ends(values.mean(), between(values))})" for one, values in tested.items()}
    parts = [
        f"{text} {joined([shown_of[one] for one in tested if words[one] == word])}"
        for word, text in texts.items()
        if word in words.values()
    ]
    queries = many(max(map(len, tested.values())), "query", "queries")
    kept = sum(value < 0.05 and words[one] in ("better", "worse") for one, value in zip(tested, p, strict=True))
    utility = {source: chosen_by(columns, source, rankings, 2) for source in tested}
    changed = [f"{ends(values.mean(), between(values))} with {one}" for one, values in utility.items()]
    yield (
        f"{where}, the context with the highest nDCG by a source’s labels, compared with a random one of "
        f"{len(rankings)}, the choice of p0: mean P over up to {queries} "
        f"is {'; '.join(parts)} ({kept} after Holm’s correction); mean utility changes by {joined(changed)}."
    )
    for place, quantity, name in ((2, "utility", "utility"), (1, "p", "P")):
        yield from over_queries(measured, shown, columns, place, quantity, name, k)


def within_said(
    columns: Any, source: str, rankings: list[str], shown: AnnotationStudy
) -> tuple[float, tuple[float, float], str]:
    """r of both columns less each query's mean; its interval is the table's, whose word follows from it."""
    x, y = [], []
    for qid in sorted({qid for name in rankings for qid in columns[source, name]}):
        pairs = np.array([columns[source, name][qid][:2] for name in rankings if qid in columns[source, name]], float)
        if len(pairs) > 1:
            x += list(pairs[:, 0] - pairs[:, 0].mean())
            y += list(pairs[:, 1] - pairs[:, 1].mean())
    r = float(np.corrcoef(x, y)[0, 1])
    row = shown.tables["annotation_within"].filter(source=source, k=shown.first["k"], retrievers="all")
    low, high, p = row.select("low", "high", "p_value").row(0)
    assert low < r < high
    return r, (low, high), "undecided" if p >= 0.05 or low < 0 < high else "above zero" if low > 0 else "below zero"


def over_queries(
    measured: Measured, shown: AnnotationStudy, columns: Any, place: int, quantity: str, name: str, k: int
) -> Iterator[str]:
    """Kendall's tau per retriever; leads and intervals by a bootstrap of this file's, from another seed."""
    where = f"{measured.name} · lm"
    random, said, significant = np.random.default_rng(5), [], []
    family = {row["retriever"]: row for row in shown.tables["annotation_leads"].filter(
        k=k, quantity=quantity, coefficient="kendall", comparison="best").to_dicts()}  # fmt: skip
    of_null: dict[str, list[dict[str, Any]]] = {}
    for row in (
        shown.tables["annotation_leads"]
        .filter(k=k, quantity=quantity, coefficient="kendall", comparison="null")
        .to_dicts()
    ):
        of_null.setdefault(row["retriever"], []).append(row)
    for mine in (list(family.values()), [row for rows in of_null.values() for row in rows]):
        known = [row for row in mine if row["p_value"] is not None]
        holm = multipletests([row["p_value"] for row in known], method="holm")[1]
        assert [row["p_holm"] for row in known] == pytest.approx(list(holm))
    rows = shown.table.filter(k=k, quantity=quantity, coefficient="kendall", references="lenient")
    for retriever in measured.rankings:
        taus, pairs = {}, {}
        for source in ("qrels", "length", "p0"):
            some = [one for _, one in sorted(columns[source, retriever].items())]
            pairs[source] = np.array([(one[0], one[place]) for one in some if None not in (one[0], one[place])])
            taus[source] = float(stats.kendalltau(*pairs[source].T).statistic)
        ranked = sorted(taus, key=lambda one: -taus[one])
        of_tau = {row["source"]: row for row in rows.filter(retriever=retriever).to_dicts()}
        named = [f"{one} (nDCG) {ends(taus[one], (of_tau[one]['low'], of_tau[one]['high']))}" for one in ranked]
        first, second = ranked[:2]
        lead = family[retriever]
        both = np.column_stack([pairs[first], pairs[second][:, 0]])
        draws = [both[random.integers(0, len(both), len(both))] for _ in range(400)]
        drawn_leads = np.array([
            stats.kendalltau(x[:, 0], x[:, 1]).statistic - stats.kendalltau(x[:, 2], x[:, 1]).statistic for x in draws
        ])  # fmt: skip
        p = min(1.0, 2 * min((drawn_leads <= 0).mean(), (drawn_leads >= 0).mean()))
        assert lead["source"] == first and lead["against_source"] == second
        assert lead["lead"] == pytest.approx(taus[first] - taus[second]) and lead["p_value"] == pytest.approx(
            p, abs=0.08
        )
        sure = lead["p_holm"] < 0.05
        significant += [f"{first} in {where} · {retriever}"] if sure else []
        ahead, behind = (
            [row["source"] for row in of_null[retriever] if row["p_holm"] < 0.05 and sign * row["lead"] > 0]
            for sign in (1, -1)
        )
        ahead += [first] if sure and second == "p0" and first not in ahead else []
        behind += [second] if sure and first == "p0" and second not in behind else []
        said.append(
            f"{where} · {retriever}, {name}: {joined(named)}; {first}’s lead over {second} is "
            f"{'' if sure else 'not '}significant; ahead of the null, p0: {joined(ahead)}"
            + (f"; behind it: {joined(behind)}" if behind else "")
            + "."
        )
    over = f"{many(len(said), 'column')} (dataset · generator · retriever)"
    yield (
        f"The best source’s lead over the next in following {name} is significant in {len(significant)} of {over}, "
        f"after Holm’s correction: {joined(significant)}."
        if significant
        else f"No lead is significant: in none of {over} do the best source’s labels follow {name} more closely than "
        "the next source’s, after Holm’s correction."
    )
    yield from said


NO_TEST_OF_LABELS = "We do not know: the sources’ choices of contexts could not be tested"


# Claims: the made-up likelihoods of tests/support/claims_study.py, from its probabilities.

TOWARDS = {
    "supports": "+--", "insufficient-supports": "++-", "insufficient-neutral": "-+-",
    "insufficient-contradictory": "-+-", "insufficient-refutes": "-++", "refutes": "--+", "not_applicable": "-+-",
}  # fmt: skip
"""Where evidence of a stance should move True, None and False."""


def way(before: float, after: float) -> float:
    return (after - before) / (1 - before if after > before else before)


def test_claims_say_what_the_likelihoods_say(tmp_path: Path) -> None:
    """Of 42 pairs in which True grows with evidence, and is likeliest with it; False is likeliest without."""
    study = claims_study(tmp_path)
    (unit,), n = study.units, 6 * len(TOWARDS)
    without = [(0.3 + 0.001 * (i // 3), 0.2, 0.4) for i in range(n)]
    given = [(0.5 + 0.4 * i / n, 0.1, 0.3 - 0.2 * i / n) for i in range(n)]
    stance_of = [list(TOWARDS)[i % len(TOWARDS)] for i in range(n)]
    moved = np.array([
        np.mean([int(f"{sign}1") * way(*pair) for sign, *pair in zip(TOWARDS[stance], *both, strict=True)])
        for stance, *both in zip(stance_of, without, given, strict=True)
    ])  # fmt: skip
    usage = {row["stance"]: row for row in study.usage.to_dicts()}

    def acu(stance: str | None) -> str:
        """The mean with the interval of the table, which resamples claims, about where clusters put it."""
        chosen = np.array([stance in (None, one) for one in stance_of])
        row, values = usage[stance or "all stances"], moved[chosen]
        if stance is None:
            error = np.std([values[3 * i : 3 * i + 3].mean() for i in range(n // 3)], ddof=1) / np.sqrt(n / 3)
            assert (row["high"] - row["low"]) / 2 == pytest.approx(2.16 * error, rel=0.25)
        return ends(float(values.mean()), (row["low"], row["high"]))

    low, high = usage["all stances"]["low"], usage["all stances"]["high"]
    side = "against its stance" if high < 0 else "in the direction of its stance" if low > 0 else None
    moves = f"moved the model {side}" if side else "moved the model in neither direction clearly"
    followed = np.mean([stance == "supports" for stance in stance_of])
    known = [stance for stance in stance_of if stance != "not_applicable"]
    conflicts = [stance for stance in known if stance in ("supports", "insufficient-supports")]
    found = of_claims.claim_sentences(study, unit)
    assert found.sentences[:3] == [
        f"On average, evidence {moves}, over {n} pairs of claim and "
        f"evidence ({n // 3} claims): ACU {acu(None)}; {acu('supports')} where it supports and {acu('refutes')} where "
        "it refutes.",
        "The likeliest of the three words was, without evidence, True for 0%, None for 0% and False for 100% of the "
        "pairs, and with evidence True for 100%, None for 0% and False for 0%; evidence changed it for 100%, and "
        f"{followed:.0%} then agree with the stance.",
        f"In {len(conflicts)} of the {len(known)} pairs with applicable evidence, the evidence contradicts what the "
        "model said without it; it changed the prediction in 100% of these.",
    ]
    strong = (
        f"Evidence moves the model {side}" if side else ("We do not know in which direction evidence moves the model")
    )
    answer = of_claims.claim_answer(study, unit)
    assert answer.sentence == f"{strong}: mean ACU {acu(None)}, {n} pairs of claim and evidence."
    rows = study.correlations.filter(coefficient="spearman", stance="all stances")
    length = rows.filter(characteristic="evidence_length").row(0, named=True)
    assert length["value"] == pytest.approx(stats.spearmanr(range(n), moved).statistic)
    tested = rows.drop_nulls("p_claims")
    holm = multipletests(tested["p_claims"].to_numpy(), method="holm")[1]
    assert tested["p_claims_holm"].to_list() == pytest.approx(list(holm))
    clear = tested.filter(pl.Series(holm < 0.05)).sort(pl.col("value").abs(), descending=True).to_dicts()
    names = [f"{row['characteristic']} (ρ {num(row['value'], 2)})" for row in clear]
    more = f" and {many(len(names) - 5, 'other')}" if len(names) > 5 else ""
    assert found.sentences[3:] == [
        f"Correlated with ACU over all stances, after Holm’s correction: {joined(names[:5])}{more}."
        if names
        else f"None of {many(rows['value'].count(), 'characteristic')} of the evidence is correlated with ACU beyond "
        "chance (Spearman, all stances, after Holm’s correction)."
    ]
    assert found.limits == [
        "For None a first token is only the beginning of the word, and of other words with it; see the table of "
        "tokens.",
        "Not reported for these claims: is_gold.",
        "Several pairs share a claim, so tests and intervals of correlations have whole claims as their unit. The "
        "paper’s "
        "p-values treat the pairs as independent and are too small; they are in correlations.csv (p_value).",
        "Entities were found by a rule, as capitalised words and numbers, not by a trained model.",
    ]


def test_claims_without_an_effect_say_so(tmp_path: Path) -> None:
    study = claims_study(tmp_path)
    (unit,) = study.units
    none = replace(study, correlations=study.correlations.with_columns(p_claims_holm=pl.lit(0.2)))
    n = none.correlations.filter(coefficient="spearman", stance="all stances")["value"].count()
    assert of_claims.claim_sentences(none, unit).sentences[3] == (
        f"None of {n} characteristics of the evidence is correlated with ACU beyond chance (Spearman, all stances, "
        f"after "
        "Holm’s correction)."
    )
    unknown = replace(study, correlations=study.correlations.with_columns(value=pl.lit(None, pl.Float64)))
    assert (
        of_claims.claim_sentences(unknown, unit).sentences[3]
        == "No characteristic of the evidence could be correlated with ACU."
    )
    silent = study.usage.with_columns(mean_mass_evidence=pl.lit(0.000012))
    without = replace(study, usage=silent)
    assert of_claims.claim_answer(without, unit).sentence == (
        "The model does not answer with True, None or False, so we do not know."
    )
    assert of_claims.claim_sentences(without, unit).sentences == [
        "The model does not answer with True, None or False: the three words have only 0.0012% of the probability "
        "at the "
        "answer’s first position, over 42 pairs of claim and evidence. The tables compare these small "
        "probabilities; no "
        "conclusions are drawn from them."
    ]
    signs = {
        1: ("moves the model in the direction of its stance", "moved the model in the direction of its stance"),
        -1: ("moves the model against its stance", "moved the model against its stance"),
    }
    undecided = replace(study, usage=study.usage.with_columns(low=pl.lit(-0.1), high=pl.lit(0.1)))
    assert "moved the model in neither direction clearly" in of_claims.claim_sentences(undecided, unit).sentences[0]
    assert (
        "We do not know in which direction evidence moves the model" in of_claims.claim_answer(undecided, unit).sentence
    )
    for sign, (said, past) in signs.items():
        ended = study.usage.with_columns(
            mean_acu=pl.lit(0.2 * sign), low=pl.lit(0.2 * sign - 0.1), high=pl.lit(0.2 * sign + 0.1)
        )
        assert of_claims.claim_answer(replace(study, usage=ended), unit).sentence.startswith(
            f"Evidence {said}: mean ACU "
        )
        assert (
            of_claims.claim_sentences(replace(study, usage=ended), unit)
            .sentences[0]
            .startswith(f"On average, evidence {past}, ")
        )


# Judges: labels by people and by a judge, and its scores before and after a change that should not count, all drawn.


def judged_study() -> tuple[AnnotationStudy, pl.DataFrame, pl.DataFrame]:
    """A judge with the labels (qid, people, judge) and the scores of the checks that its table is made of."""
    random = np.random.default_rng(11)
    n = 30 * 8
    people = random.integers(0, 4, n).astype(float)
    pairs = pl.DataFrame({
        "qid": [f"q{place // 8:02d}" for place in range(n)], "docno": [f"d{place}" for place in range(n)],
        "people": people, "judge": np.where(random.random(n) < 0.6, people, random.integers(0, 4, n)),
    })  # fmt: skip
    labels = pl.concat(
        pairs.select("qid", "docno", source=pl.lit(source), references=pl.lit(""), label=column)
        for source, column in (("qrels", "people"), ("grades", "judge"))
    )
    scales = {"qrels": Scale(2.0, True, False), "grades": Scale(2.0, True, True)}
    agreement, _ = agreement_tables(labels, {}, pl.DataFrame(schema=VALUES), "qrels", scales, 300, 0)
    scores = pl.concat(
        pairs.select("qid", check=pl.lit(check), score=random.random(n), words=random.integers(5, 90, n),
                     judgements=pl.lit(1), other_words=random.integers(0, 2, n))
        .with_columns(changed_score=pl.col("score") + random.normal(shift, 0.1, n))
        for check, shift in (("reversed", 0.0), ("swapped", 0.01), ("padded", 0.05), ("length", 0.0))
    )  # fmt: skip
    named_of = {"dataset": "demo", "source": "grades", "judge": "lm"}
    tables = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    powered = tables["annotation_powered"]
    few = pl.DataFrame(
        [{"dataset": "demo", "low": 0.1, "n": 12}], {n: powered.schema[n] for n in ("dataset", "low", "n")}
    )
    tables["annotation_powered"] = pl.concat([powered, few], how="diagonal")
    tables["annotation_agreement"] = named(agreement, {"dataset": "demo", "generator": "lm", "scorer": "s"})
    trust = JudgeTrust(0.9, True, {"grades": ["demo-lm"]})
    return AnnotationStudy("s", tables, pl.DataFrame(), trust, analyse_judge_checks(scores, named_of)), pairs, scores


def test_trust_in_a_judge_says_what_the_labels_say() -> None:
    shown, pairs, scores = judged_study()
    kappa = cohen_kappa_score(pairs["people"].to_numpy() >= 2, pairs["judge"].to_numpy() >= 2)
    low, high = shown.tables["annotation_agreement"].filter(quantity="kappa").select("low", "high").row(0)
    assert low < kappa < high
    told = ends(kappa, (low, high), 2)
    assert of_trust.trust_warnings(shown) == [
        "demo: results from labels of grades rest on a judge whose agreement with people’s labels (qrels) is κ = "
        f"{told}, below the threshold of 0.90 (agreement.least_kappa)."
    ]
    assert of_trust.trust_warnings(replace(shown, trust=JudgeTrust(kappa - 0.01))) == []
    changes = {check: changes_by_query(scores.filter(check=check)) for check in ("reversed", "swapped", "padded")}
    ps = multipletests([p_cautious(values, cautious=False) for values in changes.values()], method="holm")[1]
    done = {
        "reversed": "Showing the judge references or passages in reverse order",
        "swapped": "Asking the judge with the parts of the question in another order",
        "padded": "Padding a passage with 38 words",
    }
    said = []
    for (check, values), p in zip(changes.items(), ps, strict=True):
        some = scores.filter(check=check)
        holm = "< 0.001" if p < 0.001 else f"= {p:.3f}"
        said.append(
            f"demo · grades · lm: {done[check]} changes the judge’s score by "
            f"{ends(values.mean(), between(values, cautious=False))} on average (240 passages of 30 queries, p {holm} "
            f"after Holm’s correction), and the likeliest word in {some['other_words'].mean():.0%} of 240 judgements."
        )
    length = scores.filter(check="length")
    rho = float(stats.spearmanr(length["words"], length["score"]).statistic)
    low, high = shown.checks.filter(check="length").select("low", "high").row(0)
    assert low < rho < high
    assert of_trust.trust_sentences(shown) == [
        f"demo, agreement with people’s labels (qrels), Cohen’s κ: grades {told}.",
        "grades asks demo-lm about passages of the answers that it made itself: a judge may favour what it has used.",
        "The configuration states that the queries with people’s labels are a random sample of all queries "
        "(agreement.random_sample). The prediction-powered intervals are valid only if this is so.",
        "People label only 12 queries. With fewer than 50, prediction-powered intervals are too narrow: in simulations "
        "with 12, nominal 95% intervals contain the true value 90% to 96% of the time.",
        *said,
        f"demo · grades · lm: Spearman’s ρ between the judge’s score and the number of words of the passage is "
        f"{ends(rho, (low, high))} (240 passages of 30 queries). This alone shows no bias: longer passages may say "
        "more.",
    ]


def changes_by_query(some: pl.DataFrame) -> Array:
    means = some.group_by("qid", maintain_order=True).agg((pl.col("changed_score") - pl.col("score")).mean())
    return means["changed_score"].to_numpy()


LABELS_OF_CHECKS = ("references or passages reversed", "parts of the question swapped", "longer answers may be better")
"""Names of checks in a table; and of answers what is said of passages above."""


# Published tables: our cells of the demo and the pool, beside numbers that are off by known amounts.


def cells_beside(measured: Measured, table: pl.DataFrame) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Mean utility of each cell with the interval of its queries, and a published one; the rows that this makes."""
    rows = []
    for place, (key, part) in enumerate(
        table.filter(references="lenient").group_by("retriever", "ordering", "k", maintain_order=True)
    ):
        values = part["utility"].drop_nulls().to_numpy()
        low, high = between(values, cautious=False) or (None, None)
        rows.append({
            "dataset": measured.name, "generator": "lm", "scorer": "s", "quantity": "utility", "retriever": key[0],
            "ordering": key[1], "k": key[2], "references": "lenient", "value": float(values.mean()), "low": low,
            "high": high, "published": float(values.mean()) + 0.1 * (-1) ** place * (place % 4),
        })  # fmt: skip
    schema = schema_of(CELL_TABLE)
    return with_difference(pl.DataFrame(rows).with_columns(
        pl.lit(None, dtype).alias(name) for name, dtype in schema.items() if name not in rows[0]
    ), CELL_TABLE), rows  # fmt: skip


@pytest.mark.parametrize("make", MADE)
def test_a_reproduction_says_what_the_scores_say(make: Callable[[], Measured]) -> None:
    measured = make()
    rankings, table = measured.rankings[:3], per_query(measured)
    table = table.filter(pl.col("retriever").is_in(measured.grid["retrievers"]))
    compared, rows = cells_beside(measured, table)
    found = paper_findings(table, measured.retrieval, rankings, "nDCG", ["lenient"])
    claimed = pl.DataFrame({"inside": [True, False, None, True]})
    shown = Reproduction({
        "reproduced_cells": compared, "reproduced_summary": cell_summary(compared, {measured.name: 2 * len(rows)}),
        "reproduced_findings": found, "reproduced_labels": claimed, "reproduced_claims": claimed.head(1),
    })  # fmt: skip
    ours, theirs = (np.array([row[name] for row in rows]) for name in ("value", "published"))
    rmse = float(np.sqrt(np.mean((ours - theirs) ** 2)))
    inside = [row["low"] <= row["published"] <= row["high"] for row in rows if row["low"] is not None]
    words, tests = paper_words(measured, table, rankings)
    told = "; ".join(
        f"{finding}: {joined([f'{some.count(word)} {word}' for word in dict.fromkeys(some)])}"
        for finding, some in words.items()
    )
    assert of_reproduction.reproduction_sentences(shown) == [
        f"{measured.name} · lm · s: {len(rows)} cells of {2 * len(rows)} published; the published value lies in our "
        f"interval in {sum(inside)} of {len(inside)}, and the RMSE is {num(rmse)}. Kendall’s τ between "
        f"our cells and the published ones is {num(stats.kendalltau(ours, theirs).statistic, 2)}.",
        "Of 3 correlations with a 95% interval in this study, the published value lies inside for 2.",
        "Of 1 mean ACU with a 95% interval in this study, the published value lies inside for 1.",
        f"The paper’s findings, by dataset, references and pair: {told}. Of these {tests} tests, not corrected for "
        f"multiplicity, {chance(tests)} would be decided even if no finding held.",
    ]
    assert of_reproduction.reproduction_answer(shown).sentence == (
        f"{sum(inside) + 2 + 1} of {len(inside) + 3 + 1} published values in our 95% intervals."
    )
    nothing = Reproduction({"reproduced_claims": claimed.clear()})
    assert (
        of_reproduction.reproduction_answer(nothing).sentence
        == "Nothing published can be set beside an interval of ours."
    )


def paper_words(measured: Measured, table: pl.DataFrame, rankings: list[str]) -> tuple[dict[str, list[str]], int]:
    """The word of each finding: (a) mean r, (b) mean slope of r over k by a jackknife, (c) paired differences of P."""
    here = table.filter(pl.col("retriever").is_in(rankings), references="lenient")
    measure = {row[:3]: row[3] for row in measured.retrieval.select("retriever", "k", "qid", "value").iter_rows()}
    cells = {}
    for key, part in here.group_by("retriever", "ordering", "k", maintain_order=True):
        known = part.drop_nulls("utility")
        pairs = {qid: (u, measure[key[0], key[2], qid]) for qid, u in known.select("qid", "utility").iter_rows()}
        if len(pairs) and min(np.ptp(np.array(list(pairs.values())), axis=0)) > 1e-12:
            cells[key] = pairs
    lines = {key[:2] for key in cells}

    def r(left: str) -> dict[Any, float]:
        return {
            key: float(np.corrcoef(np.array([both for qid, both in pairs.items() if qid != left]).T)[0, 1])
            for key, pairs in cells.items()
        }

    def falls(of: dict[Any, float]) -> float:
        slopes = []
        for line in lines:
            at = {key[2]: value for key, value in of.items() if key[:2] == line}
            if len(at) > 1:
                slopes.append(np.polyfit(list(at), list(at.values()), 1)[0])
        return float(np.mean(slopes))

    words: dict[str, list[str]] = {}
    qids = sorted({qid for pairs in cells.values() for qid in pairs})
    without = [r(qid) for qid in qids]
    for name, estimate, sign in (
        ("relevance and utility correlate", lambda of: float(np.mean(list(of.values()))), 1),
        ("the correlation falls with k", falls, -1),
    ):
        found, left = estimate(r("")), np.array([estimate(one) for one in without])
        n = len(left)
        error = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
        kurtosis = float(stats.kurtosis(left, fisher=False))
        df = min(n - 1.0, 2.0 * n / (kurtosis - (n - 3) / (n - 1)))
        p = 2 * stats.t.sf(abs(found) / error, df)
        words[name] = ["undecided" if p >= 0.05 else "as in the paper" if found * sign > 0 else "the opposite"]
    better = []
    for one, other in combinations(rankings, 2):
        means = [np.mean([measure[name, k, qid] for k in measured.grid["k"] for qid in qids_of(here, name)])
                 for name in (one, other)]  # fmt: skip
        both = here.filter(retriever=one).join(
            here.filter(retriever=other), on=["ordering", "k", "qid"], suffix="_other"
        )
        gain = both.group_by("qid").agg((pl.col("p") - pl.col("p_other")).mean()).sort("qid")["p"].to_numpy()
        gain = gain * np.sign(means[0] - means[1])
        p = p_cautious(gain, cautious=False)
        better.append("undecided" if p >= 0.05 else "as in the paper" if gain.mean() > 0 else "the opposite")
    words["better ranked, better answered"] = better
    return words, 2 + len(better)


def qids_of(table: pl.DataFrame, retriever: str) -> list[str]:
    return table.filter(retriever=retriever)["qid"].unique().to_list()


@pytest.mark.parametrize(
    "module",
    [
        "annexes/prediction/sentences.py",
        "annexes/labels/sentences.py",
        "annexes/labels/trust_page.py",
        "report/display/judge_checks.py",
        "annexes/acu/sentences.py",
        "annexes/reproduction/page.py",
    ],
)
def test_a_text_of_these_pages_is_listed_here(module: str) -> None:
    assert unlisted(PACKAGE / module, Path(__file__)) == []


QUESTIONS = {
    "Does the context help?",
    "Is the answer good?",
    "Whose relevance does the generator use?",
    "How far does evidence move the model?",
    "Do we find what was published?",
}


def test_every_kind_of_sentence_is_listed() -> None:
    assert all(len(claim) == 4 and all(claim) for claim in LISTED.values())
