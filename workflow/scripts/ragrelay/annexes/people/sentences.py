"""Write the sentences on human scores: estimates for all answers, and the scorer that follows people best."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.people.estimates import DIFFERENCE, GAIN, MEAN, SLOPE, UNLIKE_ASSESSORS
from ragrelay.annexes.people.following import GENERATOR, LENGTH, ORDER, ORDER_AP, RHO, order_of
from ragrelay.annexes.people.outputs import RESULT_TABLES
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import count, counted, listing, number, p_value, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

COMPARISON = ["generator", "retriever", "ordering", "k", "against_retriever"]
MOST_NAMED = 3
WORTH = 0.95
"""A scorer is worthwhile if it narrows the interval to less than this share of the width without it."""


def people_answer(study: PeopleStudy) -> Conclusion:
    """Conclude which scorer follows people best over answers, and point to the section that has people's intervals."""
    return _followed(study)._replace(remark=_elsewhere(study))


def _elsewhere(study: PeopleStudy) -> str:
    """Name the gains and differences without an interval here whose answers people all scored, and say where it is."""
    compared = study["people_estimates"].filter(pl.col("quantity").is_in([GAIN, DIFFERENCE]), pl.col("low").is_null())
    whole = compared.filter(pl.col("n_scores") == pl.col("n_answers"), pl.col("n_scores") > 0)
    rows = whole.unique(COMPARISON, maintain_order=True).to_dicts()
    if not rows:
        return ""
    named: dict[str, list[str]] = {}
    for row in rows[:MOST_NAMED]:
        named.setdefault(f"{row['generator']}, k = {row['k']}, {row['ordering']} order", []).append(_pair(row))
    parts = [f"{listing(pairs)} ({where})" for where, pairs in named.items()]
    more = [counted(len(rows) - MOST_NAMED, "other comparison")] if len(rows) > MOST_NAMED else []
    return (
        f"People scored all answers of {listing([*parts, *more])}, which have no interval here; the sections scored by "
        f"{study.people} give one, over queries."
    )


def _pair(row: Row) -> str:
    return f"{row['retriever']} against " + (
        "answers without context" if row["quantity"] == GAIN else row["against_retriever"]
    )


def people_warnings(study: PeopleStudy) -> list[str]:
    """Warn of comparisons of answers that different people scored: the sections of human scores test them, too."""
    unlike = study["people_estimates"].filter(pl.col("reason").str.starts_with(UNLIKE_ASSESSORS))
    rows = unlike.unique(COMPARISON, maintain_order=True).to_dicts()
    return [
        f"In {counted(len(rows), 'comparison')} of answers on {study.keys['dataset']}, {row['reason']} "
        f"({row['generator']}, {row['retriever']} against {row['against_retriever']}, k = {row['k']}). Verdicts of the "
        f"sections scored by {study.people} also compare how severe these people are."
        for row in rows[:1]
    ]


def _followed(study: PeopleStudy) -> Conclusion:
    heading = "People", "Would a person say so?"
    table = study["people_agreement"].filter(quantity=RHO).drop_nulls("value")
    if table.is_empty():
        return Conclusion(*heading, "People scored too few answers to say")
    if len(study.scorers) == 1:
        [row] = table.to_dicts()
        said = f"Over answers, {row['scorer']} and people correlate with ρ = {_interval(row)}"
        return Conclusion(*heading, said, facts=(_agreed(study, row),))
    best, *rest = order_of(study.scorers, table, RHO)
    [row] = table.filter(scorer=best).to_dicts()
    known = {
        (each["scorer"], each["against"]): each for each in study["people_comparisons"].filter(quantity=RHO).to_dicts()
    }
    behind = [other for other in rest if _ahead(known, best, other)]
    if behind:
        said = f"{best} follows people better than {listing(behind)}, over answers (ρ = {_interval(row)})"
    else:
        said = f"We do not know which scorer follows people best; {best} has the highest ρ, {_interval(row)}"
    return Conclusion(*heading, said, facts=(_agreed(study, row),))


def _agreed(study: PeopleStudy, row: Row) -> TableRow:
    return TableRow(RESULT_TABLES[1], study.keys, row, ("scorer", "quantity"))


def people_sentences(study: PeopleStudy) -> list[str]:
    """State the primary comparison's estimates, the scorer's benefit, agreement, comparisons and biases."""
    return [*_counts(study), *_estimates(study), *_agreement(study), *_biases(study), *_assessors(study)]


def _counts(study: PeopleStudy) -> Iterator[str]:
    scored = study["people_agreement"].filter(quantity=RHO)
    n, queries = (max(scored[name].to_list(), default=0) for name in ("n", "n_queries"))
    yield (
        f"People ({study.people}) scored {counted(n, 'answer')} to {counted(queries, 'query', 'queries')} that another "
        "scorer also scored. All estimates hold for answers drawn for people at random or with known probabilities; "
        "answers chosen where a scorer was unsure would bias them. A gain or difference here is between means over "
        f"all scored answers; the sections scored by {study.people} pair answers by query, and differ where one answer "
        "of a pair has no score."
    )


def _estimates(study: PeopleStudy) -> Iterator[str]:
    table = study["people_estimates"]
    for generator in study.generators:
        for row in _lead(study, table.filter(generator=generator)):
            yield _estimate(row)


def _lead(study: PeopleStudy, table: pl.DataFrame) -> list[Row]:
    """Return the rows of the primary comparison with the scorer of the primary comparison, or else the first one.

    The scorer that narrows an interval most, chosen by that, would make it too narrow.
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
    what = _pair(row) + (" where it ranks a query better" if row["quantity"] == SLOPE else "")
    where = f"{row['generator']}, k = {row['k']}, {row['ordering']} order: by human scores, {what}"
    if row["low"] is None:
        of = f"{count(row['n_scores'])} of {counted(row['n_answers'], 'answer')}"
        return f"{where}: no interval ({row['reason']}; {of})."
    known = {UNDECIDED: "we do not know", None: "slope per 0.1 of the first measure"}
    word = known.get(row["verdict"], row["verdict"])
    value = with_interval(row["value"], row["low"], row["high"])
    alone = with_interval(row["alone"], row["alone_low"], row["alone_high"])
    helped = f"{value} with {row['scorer']}, " if row["weight"] else ""
    of = f"{count(row['n_scores'])} of {counted(row['n_answers'], 'answer')}"
    return f"{where}: {word}, {helped}{alone} from human scores alone ({of}). {_bought(row)}"


def _bought(row: Row) -> str:
    """State the scorer's benefit: the interval's width, and the number of human scores that it replaces."""
    r = f"r with people {number(row['r'], 2)}"
    if not row["weight"]:
        return f"{row['scorer']} would not narrow the interval, and is not used ({r})."
    if row["width"] >= WORTH:
        return f"{row['scorer']} is of little help here ({r}; width {number(row['width'], 2)} of that without it)."
    return (
        f"{row['scorer']} narrows the interval to {share(row['width'])} of its width ({r}), as "
        f"{number(row['as_many'], 1)} times as many human scores would."
    )


def _agreement(study: PeopleStudy) -> Iterator[str]:
    table = study["people_agreement"]
    for quantity, words in (
        (RHO, "Over answers, Spearman’s ρ with people"),
        (ORDER, "Over systems, Kendall’s τ with people"),
        (ORDER_AP, "Over systems, τ_AP with people"),
    ):
        rows = table.filter(quantity=quantity).to_dicts()
        known = [f"{row['scorer']} {_interval(row)}" for row in rows if row["value"] is not None]
        reasons = sorted({row["reason"] for row in rows if row["reason"]})
        if known:
            units = counted(max(row["n"] for row in rows), "answer" if quantity == RHO else "system")
            without = f" (no interval: {'; '.join(reasons)})" if reasons else ""
            yield f"{words}, {units}: {', '.join(known)}{without}."
    for row in study["people_comparisons"].drop_nulls("p_value").to_dicts():
        if row["quantity"] != RHO:
            continue
        yield (
            f"{row['scorer']} minus {row['against']}, ρ over {counted(row['n'], 'answer')}: "
            f"{with_interval(row['difference'], row['low'], row['high'], 2)}, p {p_value(row['p_value'])}."
        )


def _biases(study: PeopleStudy) -> Iterator[str]:
    for row in study["people_agreement"].filter(pl.col("quantity").is_in([LENGTH, GENERATOR])).to_dicts():
        if row["low"] is not None and (row["low"] > 0 or row["high"] < 0):
            what = "answers with twice as many words" if row["quantity"] == LENGTH else f"the answers of {row['of']}"
            side, ends = "more", (row["value"], row["low"], row["high"])
            if row["value"] < 0:
                side, ends = "less", (-row["value"], -row["high"], -row["low"])
            by = with_interval(*ends, 2)
            yield f"{row['scorer']} favours {what} {side} than people do, by {by} standard deviations of scores."


def _assessors(study: PeopleStudy) -> Iterator[str]:
    for row in study["assessors"].filter(quantity="alpha").to_dicts():
        of = f"{counted(row['n'], 'answer')} that at least two people scored"
        yield f"Krippendorff’s α of {of}: {_interval(row)}{_reason(row)}."


def _interval(row: Row) -> str:
    return with_interval(row["value"], row["low"], row["high"], 2)


def _reason(row: Row) -> str:
    return f" (no interval: {row['reason']})" if row["reason"] else ""


def _ahead(known: dict[tuple[str, str], Any], best: str, other: str) -> bool:
    """Return whether ``best`` follows people better than ``other``, by Bonferroni's correction over all pairs."""
    row = known.get((best, other)) or known.get((other, best))
    return row is not None and row["p_value"] is not None and row["p_value"] * len(known) < ALPHA
