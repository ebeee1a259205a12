"""What every sentence on published tables claims, computed a second way, as test_every_sentence.py does it."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.reproduction import page as of_reproduction
from ragrelay.annexes.reproduction.cells import COLUMNS as CELL_TABLE
from ragrelay.annexes.reproduction.cells import with_difference
from ragrelay.annexes.reproduction.findings import paper_findings
from ragrelay.annexes.reproduction.measures import cell_summary
from ragrelay.annexes.reproduction.study import Reproduction
from ragrelay.base.vocabulary.columns import schema_of
from scipy import stats

from tests.support.approved import approve, not_approved
from tests.support.measured_study import Measured
from tests.unit.report.second_way import MADE, PACKAGE, agree, between, chance, joined, num, p_cautious, per_query

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
FOUND = ("as in the paper", "the opposite")


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
def test_a_reproduction_says_what_the_scores_say_and_is_approved(make: Callable[[], Measured]) -> None:
    """The page tells the share of published values in our intervals, RMSE and tau, and the findings of the paper."""
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
    counts = {
        finding: [f"{some.count(word)} {word}" for word in dict.fromkeys(some)] for finding, some in words.items()
    }
    told = [f"{finding} {joined(some)}" for finding, some in counts.items()]
    tau, some = num(stats.kendalltau(ours, theirs).statistic, 2), "" if all(inside) else sum(inside)
    claims = [
        f"{measured.name} lm {len(rows)} {2 * len(rows)} {some} {len(inside)} {num(rmse)} {tau}",
        "95% 2 3",
        "95%",
        f"{joined(told)} {tests} {chance(tests)} significant",
    ]
    answer, said = of_reproduction.reproduction_answer(shown), of_reproduction.reproduction_sentences(shown)
    agree(said, claims, {measured.name, "lm", *words, *FOUND})
    agree([answer.sentence], [f"{sum(inside) + 2 + 1} {len(inside) + 3 + 1} 95%"])
    nothing = of_reproduction.reproduction_answer(Reproduction({"reproduced_claims": claimed.clear()}))
    approve(APPROVED / f"{measured.name}.txt", [answer.question, answer.sentence, *said, nothing.sentence])


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


def test_a_text_of_the_page_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/reproduction/page.py", APPROVED) == []
