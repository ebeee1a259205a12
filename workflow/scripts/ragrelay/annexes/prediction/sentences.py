"""Write the page's sentences on prediction quality, with the chance level next to each number."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragrelay.annexes.prediction.best import NOT_BEYOND, WORTH_USING
from ragrelay.annexes.prediction.cells import GAIN, P
from ragrelay.annexes.prediction.decisions import USE
from ragrelay.annexes.prediction.ensembles import PRE, RIDGE
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.report.display.findings import Conclusion, Findings
from ragrelay.report.display.numbers import count, counted, listing, number, p_compared, with_interval

TARGETS = {GAIN: "the gain from the context (P − P₀)", P: "answer quality (P)"}
BEYOND = {GAIN: " and adds to what P₀ alone predicts", P: ""}
MOST_NAMED = 4


def prediction_answers(studies: Sequence[PredictedStudy]) -> list[Conclusion]:
    """State in how many cells a predictor of gain or P is worth using, and name the strongest predictor."""
    return [_answer(studies, target) for target in TARGETS]


def _answer(studies: Sequence[PredictedStudy], target: str) -> Conclusion:
    asked = ("The gain", "Does the context help?") if target == GAIN else ("The answer", "Is the answer good?")
    tested = pl.concat([_cells(study, target) for study in studies]).drop_nulls("p_value")
    if tested.is_empty():
        return Conclusion(*asked, "We cannot tell: no predictor could be tested")
    worth = tested.filter(verdict=WORTH_USING)
    row = (worth if worth.height else tested).sort("rho", descending=True).row(0, named=True)
    shown = "A predictor is" if worth.height else "No predictor is shown to be"
    strong = f"{shown} worth using in {_of(worth.height, tested.height, 'cell')}"
    by_rho = f"ρ = {number(row['rho'], 2)}; {number(row['chance'], 2)} expected by chance"
    return Conclusion(*asked, strong, remark=f"The strongest is {_in_cell(row)} ({by_rho}).")


def _cells(study: PredictedStudy, target: str) -> pl.DataFrame:
    """Return each cell's best predictor, for the first reference set and retrievers that rank."""
    known = study["prediction_best"].filter(target=target, references=study.references)
    return known.filter(pl.col("retriever").is_in(list(study.rankings)))


def prediction_sentences(study: PredictedStudy) -> Findings:
    """Write a section's findings for the first reference set and the retrievers that don't use judgements."""
    lines = [_best(study, target) for target in TARGETS]
    lines += [said for said in (_ensemble(study), _transfer(study), _policy(study)) if said]
    limits = [
        "Many related predictors are compared, so a predictor that correlates with P here may not correlate with P on "
        "other queries. Each regression is evaluated on queries that weren’t used to fit it.",
        "The gain is P − P₀, so it contains P₀’s noise over seeds. Predictors computed from the zero-shot answer, and "
        "regressions on these predictors, correlate with that noise even if contexts add nothing. For the gain, “worth "
        "using” therefore also requires a correlation with P given P₀.",
        "Predictors computed from retrieval scores or dense vectors depend on the retriever, so their values can’t be "
        "compared between retrievers.",
    ]
    return Findings(study.title, lines, limits)


def _best(study: PredictedStudy, target: str) -> str:
    cells = _cells(study, target)
    tested = cells.drop_nulls("p_value")
    if tested.is_empty():
        reasons = cells["reason"].drop_nulls().unique(maintain_order=True).to_list()
        return f"No predictor of {TARGETS[target]} could be tested ({listing(reasons)})."
    worth = tested.filter(verdict=WORTH_USING).sort("rho", descending=True)
    by_p0 = tested.filter(verdict=NOT_BEYOND).sort("rho", descending=True)
    return " ".join([_worth(tested, worth, target), *([_not_beyond(tested, by_p0)] if by_p0.height else [])])


def _worth(tested: pl.DataFrame, worth: pl.DataFrame, target: str) -> str:
    if worth.is_empty():
        row = tested.sort("rho", descending=True).row(0, named=True)
        return (
            f"No predictor of {TARGETS[target]} is shown to be worth using for "
            f"{_of(0, tested.height, 'combination')} of retriever and k. The strongest is {_named(row)}."
        )
    named = "; ".join(_named(row) for row in worth.head(MOST_NAMED).iter_rows(named=True))
    more = f" The table lists {count(worth.height - MOST_NAMED)} more." if worth.height > MOST_NAMED else ""
    return (
        f"For {_of(worth.height, tested.height, 'combination')} of retriever and k, the best predictor of "
        f"{TARGETS[target]} is worth using{BEYOND[target]}: {named}.{more}"
    )


def _not_beyond(tested: pl.DataFrame, by_p0: pl.DataFrame) -> str:
    row = by_p0.row(0, named=True)
    holm = f"p {p_compared(row['p_given_p0_holm'])} after Holm’s correction"
    given = f", and with P given P₀ at ρ = {number(row['given_p0'], 2)} ({holm})" if row["given_p0"] is not None else ""
    return (
        f"In {_of(by_p0.height, tested.height, 'cell')}, the best predictor correlates with the gain but is not shown "
        "to add anything to what P₀ alone predicts: it may predict the quality of the zero-shot answer, or "
        f"the noise in P₀, rather than what the context adds. For example, {_in_cell(row)} correlates with the gain at "
        f"ρ = {number(row['rho'], 2)}{given}."
    )


def _of(some: int, total: int, noun: str) -> str:
    which = {0: "any of the ", total: "each of the "}.get(some, f"{count(some)} of ")
    return f"the only {noun}" if total == 1 else f"{which}{counted(total, noun)}"


def _named(row: dict[str, Any]) -> str:
    return (
        f"{_in_cell(row)} (ρ = {number(row['rho'], 2)}; the best of {counted(row['n_predictors'], 'predictor')} would "
        f"reach {number(row['chance'], 2)} on average by chance; p {p_compared(row['p_holm'])} after Holm’s correction)"
    )


def _in_cell(row: dict[str, Any]) -> str:
    return f"{row['predictor']} with {row['retriever']} at k = {row['k']}"


def _ensemble(study: PredictedStudy) -> str | None:
    rows = study["prediction_ensembles"].filter(
        pl.col("retriever").is_in(list(study.rankings)), pl.col("rho").is_not_null(), target=GAIN, known=PRE,
        model=RIDGE, k=study.k,
    )  # fmt: skip
    if rows.is_empty():
        return None
    said = [f"{_rho(row)} with {row['retriever']}" for row in rows.iter_rows(named=True)]
    by_p0 = [
        f"{row['retriever']} (ρ = {number(row['given_p0'], 2)} with P given P₀, {number(row['rho_with_p'], 2)} with P)"
        for row in rows.filter(verdict=NOT_BEYOND).iter_rows(named=True)
    ]
    beyond = (
        f" With {listing(by_p0)}, the regression is not shown to add anything to what P₀ alone predicts. If it decides "
        "which queries use their context, any improvement may come only from noise in P₀ that is specific to the seeds."
    )
    return (
        "A ridge regression is trained to predict the gain from all predictors available before the answer with "
        f"context is generated. At k = {study.k}, ρ between prediction and gain on held-out queries is "
        f"{listing(said)}. Pure-noise predictors would give 0 or slightly less.{beyond if by_p0 else ''}"
    )


def _rho(row: dict[str, Any]) -> str:
    return with_interval(row["rho"], row["low"], row["high"], 2)


def _transfer(study: PredictedStudy) -> str | None:
    rows = study["prediction_transfer"].filter(
        pl.col("retriever").is_in(list(study.rankings)), pl.col("rho").is_not_null(), target=GAIN, known=PRE,
        model=RIDGE, k=study.k,
    )  # fmt: skip
    if rows.is_empty():
        return None
    said = [
        f"{_rho(row)} with {row['retriever']} (trained on {row['trained_on']})" for row in rows.iter_rows(named=True)
    ]
    return (
        f"If the same regression is trained on another dataset’s queries, ρ at k = {study.k} is {listing(said)}. "
        "By chance alone, ρ would be about 0."
    )


def _policy(study: PredictedStudy) -> str | None:
    rows = study["prediction_policies"].filter(
        pl.col("retriever").is_in(list(study.rankings)), pl.col("regret").is_not_null(), choice=USE, k=study.k,
        references=study.references,
    )  # fmt: skip
    said = []
    for (retriever,), part in rows.group_by("retriever", maintain_order=True):
        regret = dict(part.select("policy", "regret").iter_rows())
        value = part.filter(policy="predicted").row(0, named=True)
        said.append(
            f"{number(regret['predicted'])} with {retriever} ({number(regret['always'])} if the context is always "
            f"used, {number(regret['never'])} if it never is; compared with the better of these two policies, mean P "
            f"changes by {with_interval(value['better_than_fixed'], value['fixed_low'], value['fixed_high'])})"
        )
    if not said:
        return None
    chosen = f"If only queries with a predicted gain above 0 use their context (k = {study.k}), regret"
    return f"{chosen} (the loss in mean P compared with the best choice for each query) is {listing(said)}."
