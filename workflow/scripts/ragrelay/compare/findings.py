"""What changed, in sentences with the numbers filled in, and what the comparison can't say."""

from typing import TYPE_CHECKING, Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.display.findings import Findings, side_of_zero
from ragrelay.display.numbers import count, counted, listing, p_value, with_interval

if TYPE_CHECKING:
    from ragrelay.compare.page import Compared

NAMES = {"p": "P", "utility": "utility"}
Row = dict[str, Any]


def sentences(compared: "Compared") -> Findings:
    """Of the largest common k, the first ordering and the first grade; and over all cells."""
    tests, grade = compared.tests, compared.references[0]
    k, ordering = max(tests["k"].to_list()), tests["ordering"][0]
    here = tests.filter(pl.col("k") == k, pl.col("ordering") == ordering, pl.col("references") == grade)
    quantities = sorted(here["quantity"].unique().to_list(), key=lambda name: (name != "utility", name != "p", name))
    found = [sentence for quantity in quantities for sentence in _change(here, quantity)]
    found += _everywhere(tests.filter(pl.col("references").is_in(list(compared.references))))
    return Findings(f"k = {k}, {ordering} order, {grade} references", found, _limits(compared))


def _change(here: pl.DataFrame, quantity: str) -> list[str]:
    rows = here.filter(pl.col("quantity") == quantity).to_dicts()
    name = NAMES.get(quantity, quantity)
    said = []
    for row in rows:
        if row["reason"] != "no query moved" and row["mean_difference"] is not None:
            change = with_interval(row["mean_difference"], row["low"], row["high"])
            moved = f"{count(row['up'])} of {counted(row['n'], 'query', 'queries')} up, {count(row['down'])} down"
            tested = f"; p {_p(row['p_t'])}, {p_value(row['p_holm'])} after Holm" if row["p_t"] is not None else ""
            said.append(f"by {change} for {row['retriever']} ({moved}{tested})")
    still = [row["retriever"] for row in rows if row["reason"] == "no query moved"]
    said += [f"for no query of {listing(still)}"] if still else []
    return [f"Mean {name} changed {listing(said)}."] if said else []


def _p(value: float | None) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def _everywhere(tests: pl.DataFrame) -> list[str]:
    rows = tests.filter(pl.col("quantity") == "utility").to_dicts()
    still = sum(row["reason"] == "no query moved" for row in rows)
    sides = [side_of_zero(row) for row in rows if row["p_t"] is not None]
    held = sum(row["p_holm"] is not None and row["p_holm"] < ALPHA for row in rows)
    return [
        f"Over all {counted(len(rows), 'cell')}, utility rose with an interval above zero in {sides.count(1)}, fell "
        f"with one below in {sides.count(-1)}, and is undecided in {sides.count(0)}; in {still} no query moved. After "
        f"Holm’s correction {counted(held, 'change')} {'is' if held == 1 else 'are'} significant at 5%."
    ]


def _limits(compared: "Compared") -> list[str]:
    tests = compared.tests
    unpaired = max(tests["n_unpaired"].to_list(), default=0)
    limits = [
        "A change that no test finds may still be there: the interval shows how large it could be.",
        "Answers are sampled: a change within the spread over seeds needs no other cause.",
    ]
    if compared.pair.generator[0] != compared.pair.generator[1]:
        limits.insert(0, "Utility is relative to each generator’s own zero-shot answers, so a generator whose P₀ is "
                         "lower gains more easily; P compares the answers themselves.")  # fmt: skip
    if unpaired:
        limits.append(f"Up to {counted(unpaired, 'query', 'queries')} of a cell have no value in one study or "
                      "in both, and are left out of its test.")  # fmt: skip
    if compared.left_out:
        limits.append(f"Without a partner in the other study, and not compared: {listing(list(compared.left_out))}.")
    return limits
