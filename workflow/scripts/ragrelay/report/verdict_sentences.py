"""Conclusions in sentences, each from the verdicts of a table: the answer to the page's title, gains, correlations."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.multiplicity import ALPHA, distinct
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


def answer(section: Section) -> str:
    """Whether a query that is ranked better is answered better (relay), and the gains of all cells."""
    return f"{relayed(section)} {gain_counts(section)}"


def relayed(section: Section) -> str:
    """The verdict of relay.csv over all rankings at the largest k, in the first ordering, of the first grade."""
    grid, grade = section.grid, section.grades[0]
    ordering, k = grid.orderings[0], max(grid.k)
    verdict = relay.answer(section["relay"], ordering, k, grade, grid.measure)
    rows = section["relay"].filter(retrievers=relay.ALL_RANKINGS, ordering=ordering, k=k, measure=grid.measure)
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
        f"{opening}: per 0.1 of {grid.measure}@{k}, P differs by {slope_with_interval(whole)}"
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
    return [
        f"Compared with {first['against_retriever']}, at a margin of {number(first['margin'], 2)} in P "
        f"(intervals with Bonferroni’s correction for {counted(first['family_size'], 'retriever')}), P is {said}."
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
