"""Write findings in sentences from the verdicts in tables: gains, correlations, equivalence."""

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
from ragrelay.report.display.numbers import about, count, counted, listing, number, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Facts
from ragrelay.report.lead_answers import ADJUSTED, MOST_NAMED, at_most
from ragrelay.report.verdict_tables import slope_with_interval

CAUSE = "only relevance that is set by design (such as by retrievers of kind graded) shows causation"
UNTESTED = "not tested"
"""Undecided because all differences are equal."""
BY_GAIN = {BETTER: "P is better than zero-shot with", WORSE: "P is worse with", UNDECIDED: "it is undecided with",
           UNTESTED: "P differs by the same amount for every query, so it is not tested, with",
           TOO_FEW: "there are too few queries to say with"}  # fmt: skip
BY_CORRELATION = {ABOVE: "above zero for", BELOW: "below zero for", UNDECIDED: "undecided for",
                  TOO_FEW: "based on too few queries for"}  # fmt: skip
BY_EQUIVALENCE = {
    **{word: f"P is {word}, for" for word in (MUCH_BETTER, LITTLE_BETTER, LITTLE_WORSE, MUCH_WORSE)},
    **{word: f"P is {word} for" for word in (BETTER, WORSE)},
    EQUIVALENT: "P is equivalent, within the margin, for",
    NOT_WORSE: "P is not worse by the margin or more, and may be better, for",
    NOT_BETTER: "P is not better by the margin or more, and may be worse, for",
    UNDECIDED: "it is undecided for",
    TOO_FEW: "there are too few queries to say for",
}
COMBINATION = "combination"
"""A retriever, ordering, k and grade: a cell at one of its grades."""


def as_processed(section: Section, names: Iterable[str]) -> str:
    """Say which retrievers' processors may have changed a passage that counts as shown; empty without processors."""
    processed = [f"{name}’s" for name in names if name in section.processed]
    which = f"{listing(processed)} processor{'s' if len(processed) > 1 else ''}"
    return f", though {which} may have changed its text" if processed else ""


def equal_length(facts: Facts) -> list[str]:
    """State the primary pair's difference at equal answer length, if there is one; it changes no verdict."""
    row = facts.primary
    if row is None or row.equal_length_low is None:
        return []
    difference = with_interval(row.equal_length_difference, row.equal_length_low, row.equal_length_high)
    return [
        f"Answers with {row.retriever} have {number(row.length_ratio, 2)} times as many tokens as answers with "
        f"{row.against_retriever} (geometric means). At equal length, P would differ by {difference}, unless a better "
        "context itself changes the length; ragrelay draws no conclusion from this."
    ]


def sizes(facts: Facts) -> list[str]:
    """Say how small a difference of the primary pair a study of this size can detect."""
    row = facts.primary
    if row is None or row.detectable_difference is None:
        return []
    return [
        f"With {count(row.n)} queries, a difference between {row.retriever} and {row.against_retriever} of "
        f"{number(row.detectable_difference)} in mean P is found in 80% of studies{_for_margin(row)}."
    ]


def _for_margin(row: Difference) -> str:
    if row.margin is None:
        return ""
    return f"; equivalence at a margin of {number(row.margin, 2)} takes {count(row.queries_for_margin)} queries"


def how_relayed(facts: Facts) -> list[str]:
    """State the basis of the answer on relay: the slope, the adjusted slope, and the slope on unseen references."""
    names = {"": "", "adjusted": f"{ADJUSTED} ", "unseen": "on unseen references "}
    slopes = [names[name] + slope_with_interval(row) for name, row in facts.slopes.items() if row.slope is not None]
    if not slopes:
        return []
    ordering, k, grade, measure = facts.section.lead.values()
    return [
        f"Relay: per 0.1 of {measure}@{k} ({ordering} order, {grade} references), P changes by {listing(slopes)}. The "
        f"adjustment takes each query’s mean {measure}@{k} and P₀ into account. The page reports relay only if the "
        "intervals of both slopes, as measured and adjusted, lie above zero. If a retriever suits some queries for "
        f"another reason, the slopes look the same; {CAUSE}."
    ]


def not_compared(cells: pl.DataFrame) -> str:
    """Say why none of the ``cells`` (rows of gain.csv) can be compared with zero-shot."""
    few = cells.filter(verdict=TOO_FEW)
    named = [f"{TOO_FEW}: {few['remark'][0]}" if few["remark"].n_unique() == 1 else TOO_FEW] if few.height else []
    reasons = [*cells.filter(pl.col("verdict") != TOO_FEW)["reason"].drop_nulls().unique(maintain_order=True), *named]
    return f"No cell can be compared with zero-shot{f' ({listing(reasons)})' if reasons else ''}"


def gain_counts(section: Section) -> str:
    """Count the cells of the first grade in which a context makes the answer better or worse."""
    cells = distinct(section["gain"].filter(references=section.grades[0]), ("retriever", "ordering"))
    tested = cells.drop_nulls("p_verdict")
    if tested.is_empty():
        return f"{not_compared(cells)}."
    by_word = {word: tested.filter(verdict=word) for word in (BETTER, WORSE, UNDECIDED, TOO_FEW)}
    kept = {word: frame.filter(pl.col("p_holm") < ALPHA).height for word, frame in by_word.items()}
    sizes = {word: count(frame.height) for word, frame in by_word.items()}
    few = f" (too few queries in {sizes[TOO_FEW]})" if by_word[TOO_FEW].height else ""
    oracles = ", oracles included" if tested.filter(~pl.col("retriever").is_in(section.rankings)).height else ""
    fallen = tested.filter(pl.col("stands").not_()).height
    return with_remark(
        f"Compared with answers without context, P is better in {sizes[BETTER]} of {counted(tested.height, 'cell')}, "
        f"worse in {sizes[WORSE]} and undecided in {sizes[UNDECIDED]}{few} ({section.grades[0]} references{oracles}, "
        f"{at_most(tested['n'].to_list())}; after Holm’s correction {count(kept[BETTER])} better and "
        f"{count(kept[WORSE])} worse; {about(tested.height * ALPHA)} expected by chance if no context mattered).",
        would_undo(f"the verdict in {counted(fallen, 'cell')}") if fallen else "",
    )


def gains(rows: list[Row]) -> list[str]:
    """State the gains in the cells of the primary comparison, with mean and median utility."""
    if not any(row["n"] for row in rows):
        return ["No query has both P and P₀ here."]
    said = [row | ({"verdict": UNTESTED} if row["verdict"] == UNDECIDED and row["low"] is None else {}) for row in rows]
    verdicts = _by_verdict([row for row in said if row["n"]], BY_GAIN, _gain)
    sizes = [row["n"] for row in rows]
    same = f"queries (up to {count(max(sizes))})" if len(set(sizes)) > 1 else at_most(sizes)
    lines = [with_remark(f"By mean gain over the same {same}, {verdicts}.", undone(rows))]
    shown = [
        f"{number(100 * row['ratio_of_means'], 0)}% ({number(row['mean_utility'], 2)}, "
        f"{number(row['median_utility'], 2)}) with {row['retriever']}"
        for row in rows
        if row["ratio_of_means"] is not None and row["mean_utility"] is not None
    ]
    if shown:
        lines.append(
            f"Mean gain relative to mean P₀, with mean and median utility per query in brackets: {listing(shown)}."
        )
    return lines


def flags(section: Section) -> list[str]:
    """Warn of cells whose mean utility misrepresents the gain: it has the other sign, or is mostly one query's."""
    of_grades = section["gain"].filter(pl.col("references").is_in(section.grades))
    cells = distinct(section.ordered(of_grades), ("retriever", "ordering", "references"))
    sentences = []
    disagreeing = cells.filter(pl.col("utility_disagrees").fill_null(False))
    if disagreeing.height:
        sentences.append(
            f"In {counted(disagreeing.height, COMBINATION)} mean U and the mean gain have different signs "
            f"({_cells(disagreeing.iter_rows(named=True))}); no conclusion is drawn from U."
        )
    dominated = cells.drop_nulls("largest_qid").sort("largest_share", descending=True, maintain_order=True)
    if dominated.height:
        named = [
            f"query {row['largest_qid']} {share(row['largest_share'])} with {_cell(row)}"
            for row in dominated.head(MOST_NAMED).iter_rows(named=True)
        ]
        sentences.append(
            f"In {counted(dominated.height, COMBINATION)} one query accounts for more than 20% of the sum of |U|: "
            f"{'; '.join(named)}{'; …' if dominated.height > MOST_NAMED else '.'}"
        )
    return sentences


def correlations(rows: list[Row], measure: str) -> list[str]:
    """State the verdicts on Spearman's rho over queries in the cells of the primary comparison; ``rows`` are rho's."""
    known = [row for row in rows if row["value"] is not None]
    parts = [_by_verdict(known, BY_CORRELATION, _rho)] if known else []
    none = [f"{row['retriever']} ({row['reason'] or 'no reason given'})" for row in rows if row["value"] is None]
    parts += [f"not defined for {listing(none)}"] if none else []
    return [f"Over queries, Spearman’s ρ between {measure} and utility is {'; '.join(parts)}."] if parts else []


def correlation_counts(frame: pl.DataFrame, measure: str, rankings: Collection[str]) -> list[str]:
    """Count the verdicts on rho over the whole grid; ``frame`` has the rows of rho at the grades."""
    cells = distinct(frame, ("retriever", "ordering", "references")).drop_nulls("p_permutation")
    if cells.is_empty():
        return []
    by_word = {word: cells.filter(verdict=word) for word in (ABOVE, BELOW, UNDECIDED, TOO_FEW)}
    oracles = " (oracles included)" if set(cells["retriever"]) - set(rankings) else ""
    few = f", {count(by_word[TOO_FEW].height)} with {TOO_FEW}" if by_word[TOO_FEW].height else ""
    alone = cells.filter(pl.col("p_permutation") < ALPHA).height
    return [
        f"{counted(cells.height, COMBINATION)} of retriever{oracles}, ordering, k and grade "
        f"{'has' if cells.height == 1 else 'have'} a ρ between {measure}@k and utility: {count(by_word[ABOVE].height)} "
        f"above zero, {count(by_word[BELOW].height)} below, {count(by_word[UNDECIDED].height)} undecided{few}, after "
        f"Holm’s correction. Without it, p < 0.05 in {count(alone)}; {about(cells.height * ALPHA)} expected by chance."
    ]


def equivalence(rows: list[Row]) -> list[str]:
    """Say how retrievers compare with the reference retriever, within a margin, in the primary comparison's cells."""
    tested = [row for row in rows if row["p_difference"] is not None]
    if not tested:
        return []
    first = tested[0]
    margin = "" if first["margin"] is None else f" at a margin of {number(first['margin'], 2)} in P"
    verdicts = _by_verdict(tested, BY_EQUIVALENCE, _difference)
    own = len({row["verdict_level"] for row in tested}) > 1
    return [with_remark(
        f"Compared with {first['against_retriever']}{margin} (intervals with Bonferroni’s "
        f"correction{', the primary pair’s without' if own else ''}), {verdicts}.", undone(tested)
    )]  # fmt: skip


def coupling(rows: list[Row], measure: str) -> list[str]:
    """State the dependence of U on P_0 in the cells of the primary comparison."""
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
    given_p0 = f" Given P₀, Spearman’s ρ between {measure} and P is {listing(partial)}." if partial else ""
    return [f"Utility depends on P₀ by definition: over queries, r between P₀ and utility is {of_p0}.{given_p0}"]


def _by_verdict(rows: list[Row], words: Mapping[str, str], shown: Callable[[Row], str]) -> str:
    """List ``rows`` by verdict: the text of the verdict, then the retrievers, each with ``shown`` of its row."""
    parts = []
    for word, text in words.items():
        named = [f"{row['retriever']} ({shown(row)})" for row in rows if row["verdict"] == word]
        parts += [f"{text} {listing(named)}"] if named else []
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
