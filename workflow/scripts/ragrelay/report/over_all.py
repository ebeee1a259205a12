"""Sentences on the study's answers over several generators, and over all datasets."""

from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.pooled import ALL_DATASETS, DATASETS_AT_LEAST, RELAY, SYSTEMS
from ragrelay.display.numbers import count, counted, with_interval
from ragrelay.report.verdict_sentences import RELAYED, winner_first
from ragrelay.report.verdict_tables import slope_with_interval

KEYS = ["dataset", "scorer", "generators", "n_generators", "ordering", "k"]


def over_all(pooled: pl.DataFrame) -> list[str]:
    """The words of ``pooled`` (analysis.pooled) where there are several generators, and those of all datasets."""
    said = []
    for (dataset, scorer, generators, several, ordering, k), rows in pooled.group_by(KEYS, maintain_order=True):
        if several == 1 and dataset != ALL_DATASETS:
            continue
        sentences = [_systems(row) for row in rows.filter(question=SYSTEMS).iter_rows(named=True)]
        sentences += [_relay(slopes) for slopes in [rows.filter(question=RELAY)] if slopes.height]
        over = f"over {count(several)} generators ({generators})" if several > 1 else generators
        sizes = counted(rows.row(0, named=True)["n_datasets"], "dataset")
        place = f"{ALL_DATASETS} ({sizes})" if dataset == ALL_DATASETS else dataset
        said.append(f"{place} · {scorer}, {over}, {ordering} order, k = {k}: {' '.join(sentences)}")
    if (pooled["n_generators"] > 1).any():
        said.append("P is averaged over the generators per query: the answers are about these generators, and about "
                    "other queries like these.")  # fmt: skip
    datasets = pooled["dataset"].n_unique() - (ALL_DATASETS in pooled["dataset"])
    if 1 < datasets < DATASETS_AT_LEAST:
        said.append(f"{count(datasets)} datasets are too few to pool; {count(DATASETS_AT_LEAST)} are needed.")
    return said


def _systems(row: dict[str, Any]) -> str:
    one, other = row["retrievers"].split(", ")
    pair = {**row, "retriever": one, "against_retriever": other, "mean_difference": row["estimate"]}
    pair, strong = winner_first(pair)
    if pair["low"] is None:
        return f"{strong} ({row['reason']})."
    return f"{strong}: difference of P {with_interval(pair['mean_difference'], pair['low'], pair['high'])}."


def _relay(slopes: pl.DataFrame) -> str:
    row = slopes.row(0, named=True)
    word = RELAYED[relay.answer_of(slopes)].format(n=count(row["n"]))
    shown = slope_with_interval({"slope": row["estimate"], "low": row["low"], "high": row["high"]})
    return (
        f"Where a retriever ranks a query better than its usual lead, is the answer better too? {word}: per 0.1 of "
        f"{row['measure']}@{row['k']}, P differs by {shown}."
    )
