"""Write sentences about human scores: estimates for all answers, and which scorer agrees best with people."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.annexes.people.estimates import CELLS, DIFFERENCE, GAIN, MEAN, SLOPE, UNLIKE_ASSESSORS
from ragrelay.annexes.people.following import GENERATOR, LENGTH, ORDER, ORDER_AP, RHO, order_of
from ragrelay.annexes.people.outputs import RESULT_TABLES
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import count, counted, listing, number, p_compared, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

COMPARISON = ["generator", "retriever", "ordering", "k", "against_retriever"]
MOST_NAMED = 3
WORTH = 0.95
"""A scorer helps if the interval with the scorer is narrower than this share of the interval without it."""


def people_answer(study: PeopleStudy) -> Conclusion:
    """Conclude which scorer correlates best with human scores, and point to the sections that show intervals."""
    return _followed(study)._replace(remark=_elsewhere(study))


def _elsewhere(study: PeopleStudy) -> str:
    """Name the comparisons without an interval here although people scored every answer, and where to find one."""
    compared = study["people_estimates"].filter(pl.col("quantity").is_in([GAIN, DIFFERENCE]), pl.col("low").is_null())
    whole = compared.filter(pl.col("n_scores") == pl.col("n_answers"), pl.col("n_scores") > 0)
    rows = whole.unique(COMPARISON, maintain_order=True).to_dicts()
    if not rows:
        return ""
    named: dict[str, list[str]] = {}
    for row in rows[:MOST_NAMED]:
        named.setdefault(f"{row['generator']}, k = {row['k']}, {row['ordering']} order", []).append(_pair(row))
    parts = [f"{listing(pairs)} ({where})" for where, pairs in named.items()]
    more = [counted(len(rows) - MOST_NAMED, "other")] if len(rows) > MOST_NAMED else []
    return (
        f"People scored every answer in {counted(len(rows), 'comparison')}: {listing([*parts, *more])}. For their "
        f"intervals (over queries), see the sections for the scorer {study.people}."
    )


def _pair(row: Row) -> str:
    return f"{row['retriever']} compared with " + (
        "no context" if row["quantity"] == GAIN else row["against_retriever"]
    )


def _named(row: Row) -> str:
    other = "without context" if row["quantity"] == GAIN else f"with {row['against_retriever']}"
    return str(row["reason"]).replace(CELLS[0], f"with {row['retriever']}").replace(CELLS[1], other)


def people_warnings(study: PeopleStudy) -> list[str]:
    """Warn if different people scored the two sides of a comparison, because some people are stricter than others."""
    unlike = study["people_estimates"].filter(pl.col("reason").str.starts_with(UNLIKE_ASSESSORS))
    rows = unlike.unique(COMPARISON, maintain_order=True).to_dicts()
    return [
        f"In {counted(len(rows), 'comparison')} on {study.keys['dataset']}, {UNLIKE_ASSESSORS}. Example "
        f"({row['generator']}, k = {row['k']}, {_pair(row)}){_named(row).removeprefix(UNLIKE_ASSESSORS)}. In the "
        f"sections for the scorer {study.people}, verdicts on these comparisons also reflect each person’s strictness."
        for row in rows[:1]
    ]


def _followed(study: PeopleStudy) -> Conclusion:
    heading = "People", "Would a person say so?"
    table = study["people_agreement"].filter(quantity=RHO).drop_nulls("value")
    if table.is_empty():
        return Conclusion(*heading, "Too few human scores to say")
    if len(study.scorers) == 1:
        [row] = table.to_dicts()
        said = f"Over answers, {row['scorer']} correlates with human scores at ρ = {_interval(row)}"
        return Conclusion(*heading, said, facts=(_agreed(study, row),))
    best, *rest = order_of(study.scorers, table, RHO)
    [row] = table.filter(scorer=best).to_dicts()
    known = {
        (each["scorer"], each["against"]): each for each in study["people_comparisons"].filter(quantity=RHO).to_dicts()
    }
    behind = [other for other in rest if _ahead(known, best, other)]
    if behind:
        said = f"{best} correlates better with human scores than {listing(behind)} (over answers, ρ = {_interval(row)})"
    else:
        said = (
            f"We do not know which scorer correlates best with human scores; ρ is highest for {best} ({_interval(row)})"
        )
    return Conclusion(*heading, said, facts=(_agreed(study, row),))


def _agreed(study: PeopleStudy, row: Row) -> TableRow:
    return TableRow(RESULT_TABLES[1], study.keys, row, ("scorer", "quantity"))


def people_sentences(study: PeopleStudy) -> list[str]:
    """Write sentences about the primary comparison's estimates, agreement with people, biases and assessors."""
    return [*_counts(study), *_estimates(study), *_agreement(study), *_biases(study), *_assessors(study)]


def _counts(study: PeopleStudy) -> Iterator[str]:
    scored = study["people_agreement"].filter(quantity=RHO)
    n, queries = (max(scored[name].to_list(), default=0) for name in ("n", "n_queries"))
    yield (
        f"{counted(n, 'answer')} to {counted(queries, 'query', 'queries')} were scored both by people "
        f"(scorer {study.people}) and by another scorer. The estimates are valid only if the answers that people "
        "scored were drawn at random or with known probabilities; choosing answers on which a scorer was unsure would "
        "bias the estimates. Gains and differences here compare means over all scored answers. In the sections for "
        f"the scorer {study.people}, answers are paired by query instead, so the values there differ if one answer of "
        "a pair has no score."
    )


def _estimates(study: PeopleStudy) -> Iterator[str]:
    table = study["people_estimates"]
    for generator in study.generators:
        for row in _lead(study, table.filter(generator=generator)):
            yield _estimate(row)


def _lead(study: PeopleStudy, table: pl.DataFrame) -> list[Row]:
    """Return the primary comparison's rows for its own scorer, or for the first scorer if it has none.

    Choosing the scorer that narrows an interval most would make the interval too narrow.
    """
    primary = study.primary
    if primary is None:
        cells = table
    else:
        here = (pl.col("k") == primary["k"]) & (pl.col("ordering") == primary["ordering"])
        own = pl.col("retriever").is_in([primary["retriever"], primary["reference"]])
        pair = pl.col("against_retriever").is_null() | pl.col("against_retriever").is_in(
            [primary["reference"], ZEROSHOT]
        )
        cells = table.filter(here & own & pair | (pl.col("retriever") == ZEROSHOT))
    first = primary["scorer"] if primary and primary["scorer"] in study.scorers else study.scorers[0]
    shown = cells.filter(pl.col("quantity") != MEAN, scorer=first)
    order = pl.col("quantity").replace_strict({GAIN: 0, DIFFERENCE: 1, SLOPE: 2})
    return list(shown.sort(order, "retriever", maintain_order=True).to_dicts())


def _estimate(row: Row) -> str:
    where = f"{row['generator']}, k = {row['k']}, {row['ordering']} order, {_pair(row)}"
    some = "all" if row["n_scores"] == row["n_answers"] else f"{count(row['n_scores'])} of"
    of = f"people scored {some} {counted(row['n_answers'], 'answer')}"
    if row["low"] is None:
        what = "slope" if row["quantity"] == SLOPE else "difference"
        return f"{where}: no interval for the {what} ({_named(row)}; {of})."
    word, does, per = f"{row['verdict']}. Estimated", "is", ""
    if row["quantity"] == SLOPE:
        word, does, per = "estimated", "changes by", " for each difference of 0.1 in the first retrieval measure"
    value = with_interval(row["value"], row["low"], row["high"])
    alone = with_interval(row["alone"], row["alone_low"], row["alone_high"])
    basis, first = (f"with the help of {row['scorer']}", value) if row["weight"] else ("from human scores alone", alone)
    other = f"; estimated from human scores alone, it {does} {alone}" if row["weight"] else ""
    return f"{where}: {word} {basis}, the difference in human scores {does} {first}{per}{other} ({of}). {_bought(row)}"


def _bought(row: Row) -> str:
    """State how much the scorer helps: the interval's width, and how many human scores it saves."""
    r = f"r with human scores: {number(row['r'], 2)}"
    if not row["weight"]:
        return f"Adding the scorer {row['scorer']} would not narrow the interval, so it is not used ({r})."
    if row["width"] >= WORTH:
        return f"{row['scorer']} hardly narrows the interval (to {share(row['width'])} of its width; {r})."
    return (
        f"{row['scorer']} narrows the interval to {share(row['width'])} of its width ({r}); without {row['scorer']}, "
        f"that would take {number(row['as_many'], 1)} times as many human scores."
    )


def _agreement(study: PeopleStudy) -> Iterator[str]:
    table = study["people_agreement"]
    for quantity, words in (
        (RHO, "Spearman’s ρ with human scores"),
        (ORDER, "Kendall’s τ with human scores"),
        (ORDER_AP, "τ_AP with human scores"),
    ):
        rows = table.filter(quantity=quantity).to_dicts()
        known = [f"{_interval(row)} for {row['scorer']}" for row in rows if row["value"] is not None]
        reasons = sorted({row["reason"] for row in rows if row["reason"]})
        if known:
            units = counted(max(row["n"] for row in rows), "answer" if quantity == RHO else "system")
            without = f" (no interval: {'; '.join(reasons)})" if reasons else ""
            yield f"{words} over {units} is {listing(known)}{without}."
    for row in study["people_comparisons"].drop_nulls("p_value").to_dicts():
        if row["quantity"] != RHO:
            continue
        difference = with_interval(row["difference"], row["low"], row["high"], 2)
        minus = f"ρ for {row['scorer']} minus ρ for {row['against']}"
        yield f"Over {counted(row['n'], 'answer')}, {minus} is {difference} (p {p_compared(row['p_value'])})."


def _biases(study: PeopleStudy) -> Iterator[str]:
    for row in study["people_agreement"].filter(pl.col("quantity").is_in([LENGTH, GENERATOR])).to_dicts():
        if row["low"] is not None and (row["low"] > 0 or row["high"] < 0):
            what, per = ("longer answers", " per doubling of the number of words") if row["quantity"] == LENGTH else (
                f"answers from {row['of']}", "")  # fmt: skip
            side, ends = "more", (row["value"], row["low"], row["high"])
            if row["value"] < 0:
                side, ends = "less", (-row["value"], -row["high"], -row["low"])
            by = with_interval(*ends, 2)
            yield f"{row['scorer']} favours {what} {side} than people do, by {by} standard deviations{per}."


def _assessors(study: PeopleStudy) -> Iterator[str]:
    for row in study["assessors"].filter(quantity="alpha").to_dicts():
        of = f"{counted(row['n'], 'answer')} that at least two people scored"
        yield f"Krippendorff’s α over {of} is {_interval(row)}{_reason(row)}."


def _interval(row: Row) -> str:
    return with_interval(row["value"], row["low"], row["high"], 2)


def _reason(row: Row) -> str:
    return f" (no interval: {row['reason']})" if row["reason"] else ""


def _ahead(known: dict[tuple[str, str], Any], best: str, other: str) -> bool:
    """Return whether ``best`` correlates better with people than ``other``, Bonferroni-corrected over all pairs."""
    row = known.get((best, other)) or known.get((other, best))
    return row is not None and row["p_value"] is not None and row["p_value"] * len(known) < ALPHA
