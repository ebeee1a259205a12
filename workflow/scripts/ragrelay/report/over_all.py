"""Answer the study's questions from results pooled over several generators and over all datasets."""

from typing import Any, NamedTuple

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.pooled import ALL_DATASETS, DATASETS_AT_LEAST, RELAY, SYSTEMS
from ragrelay.report.display.findings import Conclusion, counts, unlike_student, would_undo
from ragrelay.report.display.numbers import count, counted
from ragrelay.report.facts import Difference, Slope, TableRow
from ragrelay.report.lead_answers import relay_conclusion, short, winner_first
from ragrelay.report.outputs import RESULT_TABLES

KEYS = ["dataset", "scorer", "generators", "n_generators", "ordering", "k"]
OF_ROW = ("question", "adjusted", "retrievers", "references", "measure", *KEYS)
"""Columns that identify a row of pooled.csv."""


class OverAll(NamedTuple):
    """Pooled answers for one dataset or for all datasets. ``where``: the scorer, generators, ordering and k."""

    dataset: str
    where: str
    answers: list[Conclusion]


def over_all(pooled: pl.DataFrame) -> tuple[list[OverAll], list[str]]:
    """Return the study's answers, pooled over generators and over all datasets, and notes on how to read the answers.

    ``pooled``: the table pooled.csv. Only questions that have a row in the table are answered.
    """
    rows_of, notes = [], []
    for (dataset, scorer, generators, several, ordering, k), rows in pooled.group_by(KEYS, maintain_order=True):
        if several == 1 and dataset != ALL_DATASETS:
            continue
        answers = [_systems(row) for row in rows.filter(question=SYSTEMS).iter_rows(named=True)]
        answers += [_relay(slopes) for slopes in [rows.filter(question=RELAY)] if slopes.height]
        over = f"over {count(several)} generators ({generators})" if several > 1 else generators
        sizes = counted(rows.row(0, named=True)["n_datasets"], "dataset")
        place = f"{ALL_DATASETS} ({sizes})" if dataset == ALL_DATASETS else str(dataset)
        rows_of.append(OverAll(place, f"{scorer}, {over}, {ordering} order, k = {k}", answers))
    if (pooled["n_generators"] > 1).any():
        notes.append("Each query’s P is averaged over the generators, so the conclusions hold for these generators and "
                     "for queries like these.")  # fmt: skip
    datasets = pooled["dataset"].n_unique() - (ALL_DATASETS in pooled["dataset"])
    if 1 < datasets < DATASETS_AT_LEAST:
        notes.append(f"{count(datasets)} datasets are too few to pool; {count(DATASETS_AT_LEAST)} are needed.")
    return rows_of, notes


def _systems(row: dict[str, Any]) -> Conclusion:
    first, second = row["retrievers"].split(", ")
    names = {"retriever": first, "against_retriever": second}
    pair, strong = winner_first(Difference.of({**row, **names, "mean_difference": row["estimate"]}))
    numbers = counts(row) or row["reason"] or ""
    if pair.mean_difference is not None and pair.low is not None:
        difference = short(pair.mean_difference, pair.low, pair.high, pair.margin or 0.0)
        numbers = "; ".join(filter(None, [counts(row), f"the difference is {difference}"]))
    remark = would_undo("this verdict") if row["stands"] is False else unlike_student(row)
    question = "Does a better retriever give better answers?"
    return Conclusion("Systems", question, strong, numbers, (first, second), remark, (_pooled(row),))


def _relay(slopes: pl.DataFrame) -> Conclusion:
    rows = [Slope.of(row) for row in slopes.rename({"estimate": "slope"}).to_dicts()]
    said = relay_conclusion(relay.answer_of(slopes), rows, f"{rows[0].measure}@{rows[0].k}")
    return said._replace(facts=tuple(map(_pooled, slopes.to_dicts())))


def _pooled(row: dict[str, object]) -> TableRow:
    return TableRow(RESULT_TABLES["pooled"], {}, row, OF_ROW)
