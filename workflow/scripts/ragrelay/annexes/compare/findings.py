"""Write the page's sentences about what changed between two studies, and about the limits of the comparison."""

from typing import TYPE_CHECKING, Any

import polars as pl

from ragrelay.analysis.multiplicity import ALPHA, distinct
from ragrelay.analysis.verdicts import BETTER, TOO_FEW, UNDECIDED, WORSE
from ragrelay.annexes.compare.paired import DECIDES, SAME, STILL
from ragrelay.report.display.findings import Conclusion, Findings, counts, undone, with_remark, would_undo
from ragrelay.report.display.numbers import about, count, counted, listing, p_compared, p_value, with_interval

if TYPE_CHECKING:
    from ragrelay.annexes.compare.compared import Compared

NAMES = {"p": "P", "utility": "utility"}
BY_VERDICT = {
    BETTER: "P is better with",
    WORSE: "P is worse with",
    UNDECIDED: "undecided with",
    TOO_FEW: "too few queries with",
}
Row = dict[str, Any]


def comparison_answer(compared: "Compared", before: str, after: str) -> Conclusion:
    """Count the queries whose P changed in the cell shown first, and state which study's answers are better there."""
    heading = compared.pair.title, f"Are answers in {after} better?"
    rows = cell_shown_first(compared).filter(quantity=DECIDES)
    retrievers = {word: rows.filter(verdict=word)["retriever"].to_list() for word in (BETTER, WORSE)}
    verdicts = [f"{word} with {listing(names)}" for word, names in retrievers.items() if names]
    moved = rows.drop_nulls("mean_difference").filter(pl.col("reason").is_null() | (pl.col("reason") != STILL))
    scope, partners = _scope(compared, moved.is_empty())
    if moved.is_empty():
        strong = f"No answer’s P changed{scope}" if (rows["reason"] == STILL).all() else "We do not know"
        graded = compared.tests.filter(pl.col("references").is_in(list(compared.references)), quantity=DECIDES)
        cells = distinct(graded.drop_nulls("mean_difference"), ("retriever", "ordering", "references"))
        others = cells.filter(pl.col("reason").ne_missing(STILL)).height
        here = f"{shown_first(compared)}; P changed in {counted(others, 'other cell')}" if others else ""
        return Conclusion(*heading, strong, here, remark=partners)
    decided = moved.filter(pl.col("verdict").is_in([BETTER, WORSE]))
    row = (decided if verdicts else moved).sort(pl.col("mean_difference").abs(), descending=True).row(0, named=True)
    change = with_interval(row["mean_difference"], row["low"], row["high"])
    numbers = f"mean P changed by {change} with {row['retriever']} ({shown_first(compared)})"
    numbers = "; ".join(filter(None, [numbers, counts(row)]))
    few = (moved["verdict"] == TOO_FEW).all()
    strong = f"answers in “{after}” are {' and '.join(verdicts)}" if verdicts else (
        f"too few queries per retriever to say whether answers in “{after}” or “{before}” are better" if few else
        f"we do not know whether answers in “{after}” or “{before}” are better")  # fmt: skip
    changed = f"P changed for {_changed(compared)}{scope}; {strong}"
    return Conclusion(*heading, changed, numbers, remark=with_remark(undone(rows.to_dicts()), partners).lstrip())


def _scope(compared: "Compared", none: bool) -> tuple[str, str]:
    """Name the retrievers with which P changed (``none``: with none of them), and say how to compare the others."""
    names = compared.tests["retriever"].unique(maintain_order=True).to_list()
    if not compared.left_out:
        return "" if none or len(names) == 1 else " with at least one retriever", ""
    total, some = count(len(names) + len(compared.left_out)), "any" if none else "at least one"
    scope = f" with {names[0]}, the only one of {total} retrievers that has a counterpart" if len(names) == 1 else (
        f" with {some} retriever that has a counterpart ({count(len(names))} of {total} do)")  # fmt: skip
    others, its = listing([name for name, _ in compared.left_out]), "their" if len(compared.left_out) > 1 else "its"
    return scope, f"To compare {others} too, name {its} counterpart{'s' if its == 'their' else ''} in compare.pairs."


def shown_first(compared: "Compared") -> str:
    """Return the k, ordering and references of the cell that the page shows first, as text."""
    here = cell_shown_first(compared)
    return f"k = {here['k'][0]}, {here['ordering'][0]} order, {here['references'][0]} references"


def _changed(compared: "Compared") -> str:
    """Say for how many queries P changed with at least one retriever, in the cell that the page shows first."""
    here = {name: cell_shown_first(compared)[name][0] for name in ("k", "ordering", "references")}
    known = compared.queries.filter(quantity=DECIDES, **here).drop_nulls("difference")
    changed = known.filter(pl.col("difference").abs() > SAME)["qid"].n_unique()
    return f"{count(changed)} of {counted(known['qid'].n_unique(), 'query', 'queries')}"


def cell_shown_first(compared: "Compared") -> pl.DataFrame:
    """Return the tests for the cell that the page shows first: largest common k, first ordering and first grade."""
    tests = compared.tests
    return tests.filter(k=tests["k"].max(), ordering=tests["ordering"][0], references=compared.references[0])


def comparison_sentences(compared: "Compared") -> Findings:
    """Write sentences about the findings in the cell that the page shows first, and in all cells together."""
    tests, here = compared.tests, cell_shown_first(compared)
    quantities = sorted(
        here["quantity"].unique().to_list(), key=lambda name: (name != DECIDES, name != "utility", name)
    )
    lines = [sentence for quantity in quantities for sentence in _change(here, quantity)]
    lines += _everywhere(tests.filter(pl.col("references").is_in(list(compared.references)), quantity=DECIDES))
    return Findings(shown_first(compared), lines, _limits(compared))


def _change(here: pl.DataFrame, quantity: str) -> list[str]:
    rows = here.filter(pl.col("quantity") == quantity).to_dicts()
    name = NAMES.get(quantity, quantity)
    still = [row["retriever"] for row in rows if row["reason"] == STILL]
    moved = [row for row in rows if row["reason"] != STILL and row["mean_difference"] is not None]
    unmoved = f"With {listing(still)}, {name} didn’t change for any query." if still else ""
    shown = {row["retriever"]: with_interval(row["mean_difference"], row["low"], row["high"]) for row in moved}
    if quantity != DECIDES:
        changes = [f"by {shown[row['retriever']]} with {row['retriever']} ({_moved(row)})" for row in moved]
        return [with_remark(f"Mean {name} changed {listing(changes)}." if changes else "", unmoved).lstrip()]
    parts = []
    for word, text in BY_VERDICT.items():
        named = [
            f"{row['retriever']} ({shown[row['retriever']]}; {_moved(row)})" for row in moved if row["verdict"] == word
        ]
        parts += [f"{text} {listing(named)}"] if named else []
    text = f"Mean change in {name} over the same queries: {'; '.join(parts)}." if parts else ""
    text = with_remark(text, unmoved).lstrip()
    return [with_remark(text, undone(moved))] if text else []


def _moved(row: Row) -> str:
    moved = f"up for {count(row['up'])} of {counted(row['n'], 'query', 'queries')}, down for {count(row['down'])}"
    if few := counts(row):
        moved = f"{moved}; {few}"
    if row["p_verdict"] is None:
        return moved
    return f"{moved}; p {p_compared(row['p_verdict'])}, or {p_value(row['p_holm'])} after Holm’s correction"


def _everywhere(tests: pl.DataFrame) -> list[str]:
    cells = distinct(tests, ("retriever", "ordering", "references"))
    said = {word: count(cells.filter(verdict=word).height) for word in BY_VERDICT}
    kept = {word: count(cells.filter(pl.col("p_holm") < ALPHA, verdict=word).height) for word in BY_VERDICT}
    by_chance = about(cells.drop_nulls("p_verdict").height * ALPHA)
    still, fallen = cells.filter(reason=STILL).height, cells.filter(pl.col("stands").not_()).height
    few = cells.filter(verdict=TOO_FEW).height - still
    unknown = f", {count(few)} have too few queries" if few else ""
    return [with_remark(
        f"After the change, P is better in {said[BETTER]} of {counted(cells.height, 'cell')} and worse in "
        f"{said[WORSE]}; {said[UNDECIDED]} are undecided{unknown}, and in {count(still)}, no query’s P changed. After "
        f"Holm’s correction, P is better in {kept[BETTER]} and worse in {kept[WORSE]}. If nothing had "
        f"changed, chance alone would make P appear better or worse in {by_chance} of these cells on average (without "
        "the correction).",
        would_undo(f"the verdict in {counted(fallen, 'cell')}") if fallen else "",
    )]  # fmt: skip


def _limits(compared: "Compared") -> list[str]:
    tests = compared.tests
    unpaired = max(tests["n_unpaired"].to_list(), default=0)
    limits = [
        "An undecided change may still be real: the interval shows how large it could be.",
        "Answers are sampled, so a change no larger than the spread over seeds may be due to sampling alone.",
    ]
    if compared.changed:
        changed = listing([f"the {kind} of {counted(n, 'query', 'queries')}" for kind, n in compared.changed.items()])
        limits.insert(
            0, f"The studies differ in {changed}; these queries are excluded from every test, table and figure here."
        )
    if compared.pair.generator[0] != compared.pair.generator[1]:
        limits.insert(0, "Utility is relative to each generator’s own zero-shot answers, so a generator with a lower "
                         "P₀ gains more easily; P compares the answers themselves.")  # fmt: skip
    if compared.clusters:
        clusters = counted(compared.clusters, "cluster")
        limits.append(f"The queries form {clusters}. Verdicts, intervals and their p-values use clusters as units; "
                      "where a remark says “a single further query”, read “a single further cluster”.")  # fmt: skip
    if unpaired:
        limits.append(f"Up to {counted(unpaired, 'query', 'queries')} per cell lack a value in one study or both and "
                      "are excluded from the cell’s test.")  # fmt: skip
    if compared.left_out:
        names = listing([f"{name} ({side})" for name, side in compared.left_out])
        limits.append(f"Retrievers without a counterpart in the other study are not compared: {names}.")
    return limits
