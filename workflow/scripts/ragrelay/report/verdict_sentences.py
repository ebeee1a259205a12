"""Write sentences about the verdicts on gains, correlations, relay and equivalence."""

from collections.abc import Callable, Collection, Iterable, Mapping

import polars as pl

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
from ragrelay.report.display.findings import Row, counts, undone, with_remark, would_undo
from ragrelay.report.display.numbers import about, count, counted, listing, number, out_of, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Facts
from ragrelay.report.lead_answers import ADJUSTED, MOST_NAMED, at_most
from ragrelay.report.verdict_tables import slope_with_interval

CAUSE = "only an experiment that varies relevance (as with graded retrievers) can show causation"
UNTESTED = "not tested"
"""What sentences call an undecided verdict if all differences are equal."""
BY_GAIN = {BETTER: "answers are better than zero-shot for {}", WORSE: "answers are worse than zero-shot for {}",
           UNDECIDED: "undecided for {}",
           UNTESTED: "not tested for {}, because P differs by the same amount for every query",
           TOO_FEW: "too few queries for {}"}  # fmt: skip
BY_CORRELATION = {ABOVE: "above zero for {}", BELOW: "below zero for {}", UNDECIDED: "sign undecided for {}",
                  TOO_FEW: "too few queries for {}"}  # fmt: skip
BY_EQUIVALENCE = {
    **{word: f"{{}} {{are}} {word}" for word in (MUCH_BETTER, LITTLE_BETTER, LITTLE_WORSE, MUCH_WORSE, BETTER, WORSE)},
    EQUIVALENT: "{} {are} equivalent to {other} within the margin",
    NOT_WORSE: "{} {are} either better, or worse by less than the margin",
    NOT_BETTER: "{} {are} either worse, or better by less than the margin", UNDECIDED: "undecided for {}",
    TOO_FEW: "too few queries for {}",
}  # fmt: skip
"""Texts for verdicts; ``{}`` is replaced with the retrievers, ``{other}`` with the reference retriever."""
COMBINATION = "combination"
"""A retriever, ordering, k and grade: a cell at one of its grades."""


def as_processed(section: Section, names: Iterable[str]) -> str:
    """State that processors may have changed passages, if any of the named retrievers has a processor."""
    processed = [f"{name}’s" for name in names if name in section.processed]
    which = f"{listing(processed)} processor{'s' if len(processed) > 1 else ''}"
    return f", though {which} may have changed the text" if processed else ""


def equal_length(facts: Facts) -> list[str]:
    """State the primary pair's estimated difference at equal answer length, if available. No verdict uses it."""
    row = facts.primary
    if row is None or row.equal_length_low is None:
        return []
    difference = with_interval(row.equal_length_difference, row.equal_length_low, row.equal_length_high)
    return [
        f"Answers with {row.retriever} have {number(row.length_ratio, 2)} times as many tokens as answers with "
        f"{row.against_retriever} (geometric means). At equal length, the estimated difference in P is {difference}. "
        "The estimate holds only if a better context doesn’t itself change the length, so ragrelay draws no conclusion "
        "from it."
    ]


def sizes(facts: Facts) -> list[str]:
    """State which difference between the primary pair's retrievers a study of this size can detect."""
    row = facts.primary
    if row is None or row.verdict == TOO_FEW or row.detectable_difference is None:
        return []
    return [
        f"With {count(row.n)} queries, 80% of studies would detect a difference of "
        f"{number(row.detectable_difference)} in mean P between {row.retriever} and {row.against_retriever}"
        f"{_for_margin(row)}."
    ]


def _for_margin(row: Difference) -> str:
    if row.margin is None:
        return ""
    needed = f"{count(row.queries_for_margin)} queries"
    return f"; showing equivalence within a margin of {number(row.margin, 2)} would take {needed}"


def how_relayed(facts: Facts) -> list[str]:
    """State the slopes behind the answer on relay: unadjusted, adjusted, and for unseen references."""
    names = {"": "{}", "adjusted": f"by {{}} when {ADJUSTED}", "unseen": "by {} on unseen references only"}
    slopes = [
        names[name].format(slope_with_interval(row)) for name, row in facts.slopes.items() if row.slope is not None
    ]
    if not slopes:
        return []
    ordering, k, grade, measure = facts.section.lead.values()
    changes = ", or ".join(slopes) if len(slopes) == 2 else listing(slopes)
    adjusted = len(slopes) > 1 and facts.slopes["adjusted"].slope is not None
    difficulty = f"Difficulty combines a query’s mean {measure}@{k} and P₀. " if adjusted else ""
    return [
        f"Relay: per 0.1 of {measure}@{k} ({ordering} order, {grade} references), P changes by {changes}. "
        f"{difficulty}This page reports relay only if the intervals of both slopes, unadjusted and adjusted, lie above "
        "zero. A retriever that suits some queries for a reason other than relevance would produce the same "
        f"slopes; {CAUSE}."
    ]


def not_compared(cells: pl.DataFrame) -> str:
    """State why none of the cells can be compared with zero-shot answers. ``cells``: rows of gain.csv."""
    few = cells.filter(verdict=TOO_FEW)
    same = few["remark"].n_unique() == 1
    named = [f"{TOO_FEW}: {counts(few.row(0, named=True))}" if same else TOO_FEW] if few.height else []
    reasons = [*cells.filter(pl.col("verdict") != TOO_FEW)["reason"].drop_nulls().unique(maintain_order=True), *named]
    why = f" ({'; or '.join(reasons)})" if reasons else ""
    return f"No cell can be compared with zero-shot{why}"


def gain_counts(section: Section) -> str:
    """State in how many cells (for the first grade) answers are better or worse with context than without."""
    cells = distinct(section["gain"].filter(references=section.grades[0]), ("retriever", "ordering"))
    tested = cells.drop_nulls("p_verdict")
    if tested.is_empty():
        return f"{not_compared(cells)}."
    by_word = {word: tested.filter(verdict=word) for word in (BETTER, WORSE, UNDECIDED, TOO_FEW)}
    kept = {word: frame.filter(pl.col("p_holm") < ALPHA).height for word, frame in by_word.items()}
    sizes = {word: count(frame.height) for word, frame in by_word.items()}
    few, every = by_word[TOO_FEW].height, count(tested.height)
    oracles = ", oracles included" if tested.filter(~pl.col("retriever").is_in(section.rankings)).height else ""
    where = f"({section.grades[0]} references{oracles}, {at_most(tested['n'].to_list())})"
    if few == tested.height > 2:
        return f"All {every} cells have {TOO_FEW} to say whether answers are better with context than without {where}."
    fallen, lacking = tested.filter(pl.col("stands").not_()).height, f"; {counted(few, 'has', 'have')} {TOO_FEW}"
    rest = f", worse in {sizes[WORSE]} and undecided in {sizes[UNDECIDED]}{lacking if few else ''}"
    rest = "" if by_word[BETTER].height == tested.height > 2 else rest
    return with_remark(
        f"Answers are better with context than without in {out_of(by_word[BETTER].height, tested.height, 'cell')}"
        f"{rest} {where}. If context never made a difference, chance alone would make answers appear better or worse "
        f"in {about(tested.height * ALPHA)} of these cells on average. After Holm’s correction, answers are better in "
        f"{count(kept[BETTER])} and worse in {count(kept[WORSE])}.",
        would_undo(f"the verdict in {counted(fallen, 'cell')}") if fallen else "",
    )


def gains(rows: list[Row]) -> list[str]:
    """State each retriever's mean gain with the verdict, and mean and median utility. ``rows``: rows of gain.csv."""
    if not any(row["n"] for row in rows):
        return ["No query has both P and P₀ here."]
    said = [row | ({"verdict": UNTESTED} if row["verdict"] == UNDECIDED and row["low"] is None else {}) for row in rows]
    verdicts = _by_verdict([row for row in said if row["n"]], BY_GAIN, _gain)
    sizes = [row["n"] for row in rows]
    same = f"{'' if max(sizes) == 1 else 'the same '}{at_most(sizes)}"
    same = f"queries with P and P₀ (up to {count(max(sizes))})" if len(set(sizes)) > 1 else same
    lines = [with_remark(f"Mean gain over {same}: {verdicts}.", undone(rows))]
    shown = [
        f"{number(100 * row['ratio_of_means'], 0)}% ({number(row['mean_utility'], 2)}, "
        f"{number(row['median_utility'], 2)}) with {row['retriever']}"
        for row in rows
        if row["ratio_of_means"] is not None and row["mean_utility"] is not None
    ]
    if shown:
        lines.append(
            f"Mean gain relative to mean P₀, with mean and median utility per query in parentheses: {listing(shown)}."
        )
    return lines


def flags(section: Section) -> list[str]:
    """Warn about cells where mean utility and gain have opposite signs, or where one query dominates mean utility."""
    of_grades = section["gain"].filter(pl.col("references").is_in(section.grades))
    cells = distinct(section.ordered(of_grades), ("retriever", "ordering", "references"))
    sentences, of = list[str](), " of retriever, ordering, k and references"
    disagreeing = cells.filter(pl.col("utility_disagrees").fill_null(False))
    if disagreeing.height:
        sentences.append(
            f"In {counted(disagreeing.height, COMBINATION)}{of}, mean utility and mean gain have opposite signs "
            f"({_cells(disagreeing.iter_rows(named=True))}); ragrelay draws no conclusions from utility."
        )
    dominated = cells.drop_nulls("largest_qid").sort("largest_share", descending=True, maintain_order=True)
    if dominated.height:
        named = [
            f"query {row['largest_qid']} for {share(row['largest_share'])} ({_cell(row)})"
            for row in dominated.head(MOST_NAMED).iter_rows(named=True)
        ]
        sentences.append(
            f"In {counted(dominated.height, COMBINATION)}{of}, one query accounts for more than 20% of the sum of "
            f"|utility|: {'; '.join(named)}{'; …' if dominated.height > MOST_NAMED else '.'}"
        )
    return sentences


def correlations(rows: list[Row], measure: str) -> list[str]:
    """State each retriever's verdict on Spearman's rho over queries. ``rows``: the rows for rho in correlation.csv."""
    known = [row for row in rows if row["value"] is not None]
    parts = [_by_verdict(known, BY_CORRELATION, _rho)] if known else []
    none = [f"{row['retriever']} ({row['reason'] or 'no reason given'})" for row in rows if row["value"] is None]
    parts += [f"undefined for {listing(none)}"] if none else []
    return [f"Spearman’s ρ between {measure} and utility over queries: {'; '.join(parts)}."] if parts else []


def correlation_counts(frame: pl.DataFrame, measure: str, rankings: Collection[str]) -> list[str]:
    """State how many rhos are above 0, below 0 or of undecided sign. ``frame``: rows for rho in correlation.csv."""
    cells = distinct(frame, ("retriever", "ordering", "references")).drop_nulls("p_permutation")
    if cells.is_empty():
        return []
    by_word = {word: cells.filter(verdict=word) for word in (ABOVE, BELOW, UNDECIDED, TOO_FEW)}
    oracles = " (oracles included)" if set(cells["retriever"]) - set(rankings) else ""
    few = f"; {counted(by_word[TOO_FEW].height, 'has', 'have')} {TOO_FEW}" if by_word[TOO_FEW].height else ""
    alone = cells.filter(pl.col("p_permutation") < ALPHA).height
    return [
        f"ρ between {measure}@k and utility is defined for {counted(cells.height, COMBINATION)} of retriever{oracles}, "
        f"ordering, k and grade. After Holm’s correction, ρ is above zero in {count(by_word[ABOVE].height)}, below "
        f"zero in {count(by_word[BELOW].height)} and undecided in {count(by_word[UNDECIDED].height)}{few}. Without the "
        f"correction, p < 0.05 in {count(alone)}; chance alone would give {about(cells.height * ALPHA)} on average."
    ]


def equivalence(rows: list[Row]) -> list[str]:
    """State whether each retriever is better than, worse than or equivalent to the reference retriever."""
    tested = [row for row in rows if row["p_difference"] is not None]
    if not tested:
        return []
    first = tested[0]
    margin = "" if first["margin"] is None else f"margin {number(first['margin'], 2)} in P, "
    verdicts = _by_verdict(tested, BY_EQUIVALENCE, _difference, first["against_retriever"])
    own = len({row["verdict_level"] for row in tested}) > 1
    return [with_remark(
        f"Compared with {first['against_retriever']} ({margin}Bonferroni-corrected intervals"
        f"{' except for the primary pair' if own else ''}): {verdicts}.", undone(tested)
    )]  # fmt: skip


def coupling(rows: list[Row], measure: str) -> list[str]:
    """State, for each retriever, how utility correlates with P₀, and how the measure correlates with P given P₀."""
    known = [row for row in rows if row["r_p0_utility"] is not None]
    if not known:
        return []
    of_p0 = listing([f"{number(row['r_p0_utility'], 2)} with {row['retriever']}" for row in known])
    partial = [
        f"{with_interval(row['partial_rho'], row['partial_rho_low'], row['partial_rho_high'], 2)} with "
        f"{row['retriever']}"
        for row in known
        if row["partial_rho"] is not None
    ]
    given_p0 = f" Controlling for P₀, Spearman’s ρ between {measure} and P is {listing(partial)}." if partial else ""
    by_definition = "Utility depends on P₀ by definition: over queries, Pearson’s r between P₀ and utility is"
    return [f"{by_definition} {of_p0}.{given_p0}"]


def _by_verdict(rows: list[Row], words: Mapping[str, str], shown: Callable[[Row], str], other: str = "") -> str:
    """List ``rows`` by verdict: the verdict's text in ``words``, with the retrievers and ``shown`` of their rows."""
    parts = []
    for word, text in words.items():
        named = [f"{row['retriever']} ({shown(row)})" for row in rows if row["verdict"] == word]
        parts += [text.format(listing(named), are="is" if len(named) == 1 else "are", other=other)] if named else []
    return "; ".join(parts)


def _gain(row: Row) -> str:
    return "; ".join(filter(None, [with_interval(row["mean_difference"], row["low"], row["high"]), counts(row)]))


def _difference(row: Row) -> str:
    shown = with_interval(row["mean_difference"], row["verdict_low"], row["verdict_high"])
    return "; ".join(filter(None, [shown, counts(row)]))


def _rho(row: Row) -> str:
    return "; ".join(filter(None, [with_interval(row["value"], row["low"], row["high"], 2), row["remark"]]))


def _cell(row: Row) -> str:
    return f"{row['retriever']}, {row['ordering']}, k = {row['k']}, {row['references']}"


def _cells(rows: Iterable[Row]) -> str:
    named = [_cell(row) for row in rows]
    return "; ".join(named[:MOST_NAMED]) + ("; …" if len(named) > MOST_NAMED else "")
