"""Conclusions in sentences, each from the verdicts of a table: the study's answers, gains, correlations."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.analysis.systems import PRIMARY
from ragrelay.analysis.verdicts import (
    ABOVE,
    BELOW,
    BETTER,
    EQUIVALENT,
    LITTLE_BETTER,
    LITTLE_WORSE,
    MUCH_BETTER,
    MUCH_WORSE,
    NOT_BETTER,
    NOT_WORSE,
    TOO_FEW,
    UNDECIDED,
    WORSE,
)
from ragrelay.display.numbers import about, count, counted, listing, number, share, with_interval
from ragrelay.display.sections import Section
from ragrelay.report.verdict_tables import slope_with_interval
from ragrelay.vocabulary.names import UNSEEN

Row = dict[str, Any]
RELAYED = {
    relay.IT_IS: "the answer is better too",
    relay.IT_IS_NOT: "the answer is worse",
    relay.NOT_KNOWN: "it is not known whether the answer is better too",
    relay.TOO_FEW: "too few queries differ to say whether the answer is better too",
}
BY_GAIN = {BETTER: "better than zero-shot with", WORSE: "worse with", UNDECIDED: "undecided with",
           TOO_FEW: "of too few queries to say with"}  # fmt: skip
BY_CORRELATION = {ABOVE: "above zero for", BELOW: "below zero for", UNDECIDED: "undecided for"}
BY_EQUIVALENCE = {
    **{word: f"{word}, for" for word in (MUCH_BETTER, LITTLE_BETTER, LITTLE_WORSE, MUCH_WORSE)},
    **{word: f"{word} for" for word in (BETTER, EQUIVALENT, NOT_WORSE, NOT_BETTER, WORSE, UNDECIDED)},
    TOO_FEW: "of too few queries to say for",
}
MOST_NAMED = 3
UNNAMED = ("it ", "too ", "answers ")
BY_SYSTEM = {
    MUCH_BETTER: "{one} gives better answers than {other}, by more than the margin of {margin}",
    BETTER: "{one} gives better answers than {other}",
    LITTLE_BETTER: "{one} gives better answers than {other}, by less than the margin of {margin}",
    EQUIVALENT: "answers with {one} and with {other} are equivalent at a margin of {margin}",
    NOT_WORSE: "answers with {one} are not worse than with {other} by {margin}; it is not known whether they are "
    "better",
    NOT_BETTER: "answers with {one} are not better than with {other} by {margin}; it is not known whether they are "
    "worse",
    LITTLE_WORSE: "{one} gives worse answers than {other}, by less than the margin of {margin}",
    WORSE: "{one} gives worse answers than {other}",
    MUCH_WORSE: "{one} gives worse answers than {other}, by more than the margin of {margin}",
    UNDECIDED: "it is not known whether {one} or {other} gives better answers",
    TOO_FEW: "too few queries differ to say whether {one} or {other} gives better answers",
}
"""Of the primary pair."""
REPRESENTATIVE = 36
"""With fewer queries, rare kinds of them may be missing."""
UNJUDGED = 0.05
"""Share of passages without a judgement from which the page says so."""


def answers(section: Section) -> list[str]:
    """The study's answers: of its primary pair (systems), of relay, and of the queries of one retriever."""
    return [compared(section), relayed(section), *ranked_well(section)]


def compared(section: Section) -> str:
    """The verdict of systems.csv on the primary pair."""
    pairs = section["systems"].filter(role=PRIMARY)
    if pairs.is_empty():
        return "Whether a better retriever gives better answers cannot be said of one retriever."
    row = pairs.row(0, named=True)
    one, other = row["retriever"], row["against_retriever"]
    opening = BY_SYSTEM[row["verdict"]].format(one=one, other=other, margin=number(row["margin"], 2))
    opening = opening[0].upper() + opening[1:] if opening.startswith(UNNAMED) else opening
    if row["low"] is None:
        return f"{opening} ({row['reason']})."
    measure, measured = section.lead["measure"], _means_of_measure(section, row)
    means = f"; {measure}@{row['k']} is {number(measured[0])} and {number(measured[1])}" if measured else ""
    few = f" A kind of query rarer than 3 in {count(row['n'])} may be missing from the sample."
    return (
        f"{opening}: P differs by {with_interval(row['mean_difference'], row['low'], row['high'])}{means} "
        f"({row['ordering']} order, k = {count(row['k'])}, {row['references']} references, "
        f"{counted(row['n'], 'query', 'queries')}).{few if row['n'] < REPRESENTATIVE else ''}{_unjudged(section, row)}"
    )


def _unjudged(section: Section, row: Row) -> str:
    """Where more than UNJUDGED of the passages of either retriever of the pair have no judgement."""
    where = {"ordering": row["ordering"], "k": row["k"], "references": row["references"]}
    names = (row["retriever"], row["against_retriever"])
    cells = [section["utility"].filter(retriever=name, **where)["share_unjudged"].drop_nulls() for name in names]
    if not all(len(one) for one in cells) or max(one[0] for one in cells) <= UNJUDGED:
        return ""
    said = listing([f"{share(one[0])} with {name}" for one, name in zip(cells, names, strict=True)])
    return f" Of the passages shown, {said} have no judgement: measures and P take them for not relevant."


def sizes(section: Section) -> list[str]:
    """What a study of this size finds of the primary pair."""
    rows = section["systems"].filter(role=PRIMARY).drop_nulls("detectable_difference").to_dicts()
    return [
        f"With {count(row['n'])} queries, a difference between {row['retriever']} and {row['against_retriever']} of "
        f"{number(row['detectable_difference'])} in mean P is found in 80% of studies, and equivalence at a margin of "
        f"{number(row['margin'], 2)} with {count(row['queries_for_margin'])} queries."
        for row in rows
    ]


def _means_of_measure(section: Section, row: Row) -> tuple[float, float] | None:
    """Of the pair's retrievers, over the queries with a P."""
    measure, cells = section.lead["measure"], section["utility"]
    where = {name: row[name] for name in ("ordering", "k", "references")}
    names = (row["retriever"], row["against_retriever"])
    found = [cells.filter(retriever=name, **where)[measure] for name in names] if measure in cells.columns else []
    if len(found) < len(names) or any(len(one) != 1 or one[0] is None for one in found):
        return None
    return found[0][0], found[1][0]


def ranked_well(section: Section) -> list[str]:
    """For how many retrievers the queries that are ranked well have the higher utility: rho's verdicts in one cell."""
    lead = section.lead
    cell = section["correlation"].filter(
        pl.col("coefficient") == DECIDES, subset="all", **{name: lead[name] for name in lead}
    )
    known = cell.filter(pl.col("retriever").is_in(section.grid.retrievers)).drop_nulls("value")
    if known.is_empty():
        return []
    counts = {word: known.filter(verdict=word).height for word in (ABOVE, BELOW, UNDECIDED)}
    return [
        f"Over the queries of one retriever, Spearman’s ρ between {lead['measure']}@{lead['k']} and utility is above "
        f"zero for {count(counts[ABOVE])} of {counted(known.height, 'retriever')}, below for {count(counts[BELOW])} "
        f"and undecided for {count(counts[UNDECIDED])}; a query’s difficulty may cause both."
    ]


def relayed(section: Section) -> str:
    """The verdict of relay.csv over all rankings where the primary pair is compared."""
    ordering, k, grade, measure = section.lead.values()
    verdict = relay.answer(section["relay"], ordering, k, grade, measure)
    rows = section["relay"].filter(retrievers=relay.ALL_RANKINGS, ordering=ordering, k=k, measure=measure)
    found = {(row["references"], row["adjusted"]): row for row in rows.iter_rows(named=True)}
    if verdict == relay.ONE_RANKING:
        return "Whether relevance is relayed cannot be said without two rankings (oracles are none)."
    opening = f"Where a retriever ranks a query better than its usual lead over another, {RELAYED[verdict]}"
    whole, adjusted, unseen = (found.get(key) for key in ((grade, False), (grade, True), (grade + UNSEEN, False)))
    if whole is None or whole["slope"] is None:
        return f"{opening} ({whole['reason']})." if whole is not None and whole["reason"] else f"{opening}."
    others = [("adjusted for difficulty and P₀", adjusted), ("on unseen references", unseen)]
    said = [
        f"{name} {slope_with_interval(row)}" for name, row in others if row is not None and row["slope"] is not None
    ]
    return (
        f"{opening}: per 0.1 of {measure}@{k}, P differs by {slope_with_interval(whole)}"
        f"{'; ' if said else ''}{listing(said) if said else ''} ({ordering} order, {grade} references, "
        f"{counted(whole['n'], 'query', 'queries')} with contexts that differ). An advantage that "
        "suits some queries for another reason looks the same."
    )


def gain_counts(section: Section) -> str:
    """In how many cells of the first grade a context makes the answer better or worse."""
    cells = distinct(section["gain"].filter(references=section.grades[0]), ("retriever", "ordering"))
    tested = cells.drop_nulls("p_verdict")
    if tested.is_empty():
        reasons = cells["reason"].drop_nulls().unique(maintain_order=True).to_list()
        return f"No cell can be compared with zero-shot{f' ({listing(reasons)})' if reasons else ''}."
    found = {word: tested.filter(verdict=word) for word in (BETTER, WORSE, UNDECIDED, TOO_FEW)}
    kept = {word: frame.filter(pl.col("p_holm") < ALPHA).height for word, frame in found.items()}
    sizes = {word: count(frame.height) for word, frame in found.items()}
    n, few = tested["n"].max(), f" (too few queries in {sizes[TOO_FEW]})" if found[TOO_FEW].height else ""
    return (
        f"Against the answers without context, P is better in {sizes[BETTER]} of {counted(tested.height, 'cell')}, "
        f"worse in {sizes[WORSE]} and undecided in {sizes[UNDECIDED]}{few} ({section.grades[0]} references, up to "
        f"{count(n if isinstance(n, int) else 0)} queries; after Holm’s correction {count(kept[BETTER])} better and "
        f"{count(kept[WORSE])} worse; {about(tested.height * ALPHA)} expected by chance if no context mattered)."
    )


def gains(rows: list[Row]) -> list[str]:
    """The gains of the headline's cells, with mean and median utility for comparison."""
    if not any(row["n"] for row in rows):
        return ["No query has both P and P₀ here."]
    said = _by_verdict([row for row in rows if row["n"]], BY_GAIN, _gain)
    n = max(row["n"] for row in rows)
    found = [f"By mean gain over the same queries (up to {count(n)}), P is {said}."]
    shown = [
        f"{number(100 * row['ratio_of_means'], 0)}% ({number(row['mean_utility'], 2)}, "
        f"{number(row['median_utility'], 2)}) with {row['retriever']}"
        for row in rows
        if row["ratio_of_means"] is not None and row["mean_utility"] is not None
    ]
    if shown:
        found.append(
            f"As a percentage of mean P₀, the mean gain is (mean and median U of a query in brackets) {listing(shown)}."
        )
    return found


def flags(section: Section) -> list[str]:
    """Cells whose mean utility misrepresents the gain: it has the other sign, or is mostly one query's."""
    of_grades = section["gain"].filter(pl.col("references").is_in(section.grades))
    cells = distinct(section.ordered(of_grades), ("retriever", "ordering", "references"))
    said = []
    other = cells.filter(pl.col("utility_disagrees").fill_null(False))
    if other.height:
        said.append(
            f"In {counted(other.height, 'cell')} mean U and the mean gain have different signs "
            f"({_cells(other.iter_rows(named=True))}); no conclusion is drawn from U."
        )
    one = cells.drop_nulls("largest_qid").sort("largest_share", descending=True, maintain_order=True)
    if one.height:
        named = [
            f"query {row['largest_qid']} {share(row['largest_share'])} with {_cell(row)}"
            for row in one.head(MOST_NAMED).iter_rows(named=True)
        ]
        said.append(
            f"In {counted(one.height, 'cell')} one query accounts for more than 20% of the sum of |U|: "
            f"{'; '.join(named)}{'; …' if one.height > MOST_NAMED else '.'}"
        )
    return said


def correlations(rows: list[Row], measure: str) -> list[str]:
    """Spearman's rho over queries at the headline's cells, by its verdict; ``rows`` are rho's."""
    known = [row for row in rows if row["value"] is not None]
    parts = [_by_verdict(known, BY_CORRELATION, _rho)] if known else []
    none = [f"{row['retriever']} ({row['reason'] or 'no reason given'})" for row in rows if row["value"] is None]
    parts += [f"not defined for {listing(none)}"] if none else []
    return [f"Over queries, Spearman’s ρ between {measure} and utility is {'; '.join(parts)}."] if parts else []


def correlation_counts(frame: pl.DataFrame, measure: str) -> list[str]:
    """Verdicts on rho over the whole grid; ``frame`` has the rows of rho at the grades."""
    cells = distinct(frame, ("retriever", "ordering", "references")).drop_nulls("p_permutation")
    if cells.is_empty():
        return []
    found = {word: cells.filter(verdict=word) for word in (ABOVE, BELOW, UNDECIDED)}
    kept = sum(found[word].filter(pl.col("p_permutation_holm") < ALPHA).height for word in (ABOVE, BELOW))
    return [
        f"Over the whole grid (retriever, ordering, k and grade), {counted(cells.height, 'cell')} "
        f"{'has' if cells.height == 1 else 'have'} a ρ between {measure}@k and utility: "
        f"{count(found[ABOVE].height)} above zero, {count(found[BELOW].height)} below, "
        f"{count(found[UNDECIDED].height)} undecided; {count(kept)} after Holm’s correction, "
        f"{about(cells.height * ALPHA)} expected by chance."
    ]


def equivalence(rows: list[Row]) -> list[str]:
    """Which retrievers are equivalent to the reference retriever, or not worse, in the headline's cells."""
    tested = [row for row in rows if row["p_value"] is not None]
    if not tested:
        return []
    first = tested[0]
    said = _by_verdict(tested, BY_EQUIVALENCE, _difference)
    own = len({row["verdict_level"] for row in tested}) > 1
    return [
        f"Compared with {first['against_retriever']}, at a margin of {number(first['margin'], 2)} in P (intervals with "
        f"Bonferroni’s correction{', the primary pair’s without' if own else ''}), P is {said}."
    ]


def coupling(rows: list[Row], measure: str) -> list[str]:
    """Dependence of U on P_0 in the headline's cells."""
    known = [row for row in rows if row["r_p0_utility"] is not None]
    if not known:
        return []
    of_p0 = listing([f"{number(row['r_p0_utility'], 2)} with {row['retriever']}" for row in known])
    given = [
        f"{with_interval(row['partial_rho'], row['partial_rho_low'], row['partial_rho_high'], 2)} with "
        f"{row['retriever']}"
        for row in known
        if row["partial_rho"] is not None
    ]
    said = f" Given P₀, Spearman’s ρ between {measure} and P is {listing(given)}." if given else ""
    return [f"Utility depends on P₀ by its definition: over queries, r between P₀ and utility is {of_p0}.{said}"]


def _by_verdict(rows: list[Row], words: Mapping[str, str], shown: Callable[[Row], str]) -> str:
    """``rows`` by their verdicts: the word's text, then the retrievers with what ``shown`` says of them."""
    parts = []
    for word, text in words.items():
        named = [f"{row['retriever']} ({shown(row)})" for row in rows if row["verdict"] == word]
        parts += [f"{text} {listing(named)}"] if named else []
    return "; ".join(parts)


def _gain(row: Row) -> str:
    return with_interval(row["mean_difference"], row["low"], row["high"])


def _difference(row: Row) -> str:
    return with_interval(row["mean_difference"], row["verdict_low"], row["verdict_high"])


def _rho(row: Row) -> str:
    return with_interval(row["value"], row["low"], row["high"], 2)


def _cell(row: Row) -> str:
    return f"{row['retriever']}, {row['ordering']}, k = {row['k']}, {row['references']}"


def _cells(rows: Iterable[Row]) -> str:
    named = [_cell(row) for row in rows]
    return "; ".join(named[:MOST_NAMED]) + ("; …" if len(named) > MOST_NAMED else "")
