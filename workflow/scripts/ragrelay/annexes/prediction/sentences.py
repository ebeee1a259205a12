"""Word how good the predictions of a section are, with the chance level next to each number."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragrelay.annexes.prediction.best import NOT_BEYOND, WORTH_USING
from ragrelay.annexes.prediction.cells import GAIN, P
from ragrelay.annexes.prediction.decisions import USE
from ragrelay.annexes.prediction.ensembles import PRE, RIDGE
from ragrelay.annexes.prediction.study import PredictedStudy
from ragrelay.report.display.findings import Conclusion, Findings
from ragrelay.report.display.numbers import count, counted, listing, number, p_value, with_interval

TARGETS = {GAIN: "the gain P − P₀ of a context", P: "the quality P of the answer"}
BEYOND = {GAIN: ", beyond what P₀ predicts", P: ""}
MOST_NAMED = 4


def prediction_answers(studies: Sequence[PredictedStudy]) -> list[Conclusion]:
    """Say, for gain and P over all sections, in how many cells a predictor is worth using, and name the strongest."""
    return [_answer(studies, target) for target in TARGETS]


def _answer(studies: Sequence[PredictedStudy], target: str) -> Conclusion:
    asked = ("The gain", "Does the context help?") if target == GAIN else ("The answer", "Is the answer good?")
    tested = pl.concat([_cells(study, target) for study in studies]).drop_nulls("p_value")
    if tested.is_empty():
        return Conclusion(*asked, "We do not know: no predictor could be tested")
    worth = tested.filter(verdict=WORTH_USING)
    row = (worth if worth.height else tested).sort("rho", descending=True).row(0, named=True)
    cells = counted(tested.height, "cell")
    strong = (
        f"A predictor is worth using in {count(worth.height)} of {cells}"
        if worth.height
        else f"No predictor is shown to be worth using in any of {cells}"
    )
    strongest = f"{row['predictor']}, {row['retriever']}, k = {row['k']}: ρ {number(row['rho'], 2)}"
    return Conclusion(*asked, strong, f"the strongest is {strongest}, by chance {number(row['chance'], 2)}")


def _cells(study: PredictedStudy, target: str) -> pl.DataFrame:
    """Return the best predictor of each cell of the first reference set, of the retrievers that rank."""
    known = study["prediction_best"].filter(target=target, references=study.references)
    return known.filter(pl.col("retriever").is_in(list(study.rankings)))


def prediction_sentences(study: PredictedStudy) -> Findings:
    """Word the findings of a section, on its first reference set and the retrievers that rank."""
    lines = [_best(study, target) for target in TARGETS]
    lines += [said for said in (_ensemble(study), _transfer(study), _policy(study)) if said]
    limits = [
        "Predictors are related to one another, and many are compared, so a predictor that follows P here may not do "
        "so on other queries. The regressions’ numbers come from queries that no model was fitted on.",
        "The gain contains P₀ with its noise over seeds. Predictors of the answer without context, and regressions on "
        "them, follow that noise even if contexts add nothing. “Worth using” therefore also requires a predictor to "
        "follow P given P₀.",
        "A predictor computed from scores or dense vectors belongs to one retriever, so its values can’t be compared "
        "between retrievers.",
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
            f"No predictor of {TARGETS[target]} is worth using in any of {counted(tested.height, 'cell')} (retriever "
            f"and k). The strongest is {_named(row)}"
        )
    named = "; ".join(_named(row).rstrip(".") for row in worth.head(MOST_NAMED).iter_rows(named=True))
    more = f"; {count(worth.height - MOST_NAMED)} more are in the table" if worth.height > MOST_NAMED else ""
    return (
        f"Worth using as a predictor of {TARGETS[target]}{BEYOND[target]}, in {count(worth.height)} of "
        f"{counted(tested.height, 'cell')} (retriever and k): {named}{more}."
    )


def _not_beyond(tested: pl.DataFrame, by_p0: pl.DataFrame) -> str:
    row = by_p0.row(0, named=True)
    return (
        f"In {count(by_p0.height)} of {counted(tested.height, 'cell')} the best predictor follows the gain, but is not "
        "shown to add anything to P₀: it may predict the quality of the answer without context, or its noise, rather "
        f"than what the context adds. An example is {row['predictor']} ({row['retriever']}, k = {row['k']}): ρ "
        f"{number(row['rho'], 2)} with the gain, {number(row['given_p0'], 2)} with P given P₀ (p "
        f"{p_value(row['p_given_p0_holm'])} after Holm’s correction)."
    )


def _named(row: dict[str, Any]) -> str:
    return (
        f"{row['predictor']} ({row['retriever']}, k = {row['k']}): ρ {number(row['rho'], 2)}; by chance the best of "
        f"{count(row['n_predictors'])} predictors has {number(row['chance'], 2)} (p {p_value(row['p_holm'])} after "
        "Holm’s correction)."
    )


def _ensemble(study: PredictedStudy) -> str | None:
    rows = study["prediction_ensembles"].filter(
        pl.col("retriever").is_in(list(study.rankings)), pl.col("rho").is_not_null(), target=GAIN, known=PRE,
        model=RIDGE, k=study.k,
    )  # fmt: skip
    if rows.is_empty():
        return None
    said = [
        f"{with_interval(row['rho'], row['low'], row['high'], 2)} for {row['retriever']}"
        for row in rows.iter_rows(named=True)
    ]
    by_p0 = [
        f"{row['retriever']} (ρ {number(row['given_p0'], 2)} with P given P₀, {number(row['rho_with_p'], 2)} with P)"
        for row in rows.filter(verdict=NOT_BEYOND).iter_rows(named=True)
    ]
    beyond = (
        f" For {listing(by_p0)}, the regression is not shown to add anything to P₀: selective retrieval based on it, "
        "and its curve, may gain only from the noise in P₀, which other seeds don’t share."
    )
    return (
        "For queries that it was not fitted on, a ridge regression on all predictors that need no answer with context "
        f"follows the gain with ρ {listing(said)} (k = {study.k}); predictors made of noise have 0 or slightly "
        f"less.{beyond if by_p0 else ''}"
    )


def _transfer(study: PredictedStudy) -> str | None:
    rows = study["prediction_transfer"].filter(
        pl.col("retriever").is_in(list(study.rankings)), pl.col("rho").is_not_null(), target=GAIN, known=PRE,
        model=RIDGE, k=study.k,
    )  # fmt: skip
    if rows.is_empty():
        return None
    said = [
        f"{with_interval(row['rho'], row['low'], row['high'], 2)} for {row['retriever']}, trained "
        f"on {row['trained_on']},"
        for row in rows.iter_rows(named=True)
    ]
    return (
        f"The same regression, trained on another dataset’s queries, follows the gain here, at k = {study.k}, with "
        f"ρ {listing(said)} where chance gives 0."
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
            f"{retriever}: {number(regret['predicted'])}, always {number(regret['always'])}, never "
            f"{number(regret['never'])} (mean P minus the better fixed policy’s mean P: "
            f"{with_interval(value['better_than_fixed'], value['fixed_low'], value['fixed_high'])})"
        )
    if not said:
        return None
    return f"Regret of using the context where the predicted gain is above 0, at k = {study.k}: {'; '.join(said)}."
