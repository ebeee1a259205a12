"""Write the page's sentences about changed texts, saved tokens and changed answers."""

from collections.abc import Mapping
from typing import Any

from ragrelay.annexes.processing.outputs import RESULT_TABLES
from ragrelay.annexes.processing.study import ProcessingStudy, Row
from ragrelay.report.display.findings import Conclusion, with_remark, would_undo
from ragrelay.report.display.numbers import count, counted, listing, number, share
from ragrelay.report.facts import TableRow
from ragrelay.report.lead_answers import short, winner_first
from ragrelay.report.outputs import RESULT_TABLES as CORE_TABLES

HEADING = "Processors", "What did the processor do?"


def processing_answer(study: ProcessingStudy) -> Conclusion:
    """State what share of prompt tokens each processor saved at the largest k, and how P changed."""
    rows = study.rows
    deepest = [row for row in rows if row["k"] == max(other["k"] for other in rows)]
    said = "; ".join(f"{row['retriever']}, k = {row['k']}: {_short(row)}" for row in deepest)
    own = study.tables["processing"].filter(k=deepest[0]["k"]).to_dicts()
    facts = [TableRow(RESULT_TABLES[0], study.keys, row, ("retriever", "k")) for row in own]
    pairs = [row["pair"].as_in_table for row in deepest if row["pair"]]
    facts += [TableRow(CORE_TABLES["systems"], study.keys, pair, pair.KEY) for pair in pairs]
    return Conclusion(*HEADING, said, facts=tuple(facts))


def processing_sentences(study: ProcessingStudy) -> list[str]:
    """Write sentences about changed texts, saved tokens and answers, for every processed retriever and k."""
    told = [text for row in study.rows for text in (_changed(row), _tokens(study, row), _compared(study, row))]
    return [text for text in told if text]


def processing_warnings(study: ProcessingStudy) -> list[str]:
    """Warn about processors that returned different contexts when a sample was processed a second time."""
    names = dict.fromkeys(row["retriever"] for row in study.rows if row["same_again"] is False)
    return [
        f"{name}’s processor isn’t deterministic on {study.keys['dataset']}: processing a sample of contexts again "
        "gave different texts or a different order, so prompts would differ if the cache were lost."
        for name in names
    ]


def saved(row: Mapping[str, Any]) -> float | None:
    """Return the share of prompt tokens that the processor saved, or None if either token count is unknown."""
    before, after = row["tokens_before"], row["tokens_after"]
    return None if before is None or after is None or not before else 1 - after / before


def _unchanged(row: Row) -> bool:
    return bool(row["n_contexts_same"] == row["n_contexts"])


def _short(row: Row) -> str:
    if _unchanged(row):
        return "no text changed"
    kept = saved(row)
    tokens = "" if kept is None else f"prompts have {_fewer(kept)} tokens; "
    return tokens + (f"the verdict on P is “{row['pair']['verdict']}”" if row["pair"] else "there is no verdict on P")


def _fewer(kept: float) -> str:
    return f"{share(abs(kept))} {'fewer' if kept >= 0 else 'more'}"


def _changed(row: Row) -> str:
    where = f"{row['retriever']}, k = {row['k']}"
    if _unchanged(row):
        return f"{where}: the processor changed none of the {counted(row['n_contexts'], 'context')} from {row['of']}."
    changed, dropped = row["n_changed"], row["n_emptied"]
    some = {0: "none of the", row["n_passages"]: "all"}.get(changed, f"{count(changed)} of the")
    passages = (
        f"{some} {counted(row['n_passages'], 'passage')} from {row['of']} {_are(changed)} shown with different text, "
        f"and {count(dropped) if dropped else 'none'} {_are(dropped)} dropped"
    )
    same, emptied, moved = row["n_contexts_same"], row["n_contexts_emptied"], row.get("n_reordered")
    contexts = [
        f"{count(same)} {_are(same)} unchanged" if same else "",
        f"{count(emptied)} {_are(emptied)} empty (giving the zero-shot prompt)" if emptied else "",
        f"{count(moved)} {_are(moved)} in a different order" if moved else "",
    ]
    told = listing([text for text in contexts if text])
    of_contexts = f"; of the {counted(row['n_contexts'], 'context')}, {told}" if any(contexts) else ""
    return f"{where}: {passages}{of_contexts}."


def _are(amount: int) -> str:
    return "is" if amount == 1 else "are"


def _tokens(study: ProcessingStudy, row: Row) -> str:
    kept = saved(row)
    if kept is None or _unchanged(row):
        return ""
    return (
        f"{row['retriever']}, k = {row['k']}: {study.keys['generator']}’s prompts average "
        f"{number(row['tokens_after'], 0)} tokens instead of {number(row['tokens_before'], 0)} ({_fewer(kept)}; "
        f"{counted(row['n_tokens'], 'query', 'queries')})."
    )


def _compared(study: ProcessingStudy, row: Row) -> str:
    if _unchanged(row):
        return ""
    if (pair := row["pair"]) is None:
        why = f"because {row['of']} isn’t in the grid or has no scores"
        return f"{row['retriever']}, k = {row['k']}: P can’t be compared, {why}."
    shown, strong = winner_first(pair)
    ends = shown["mean_difference"], shown["low"], shown["high"]
    difference = "" if ends[0] is None else f"difference {short(*ends, shown['margin'])}, "
    where = f"{study.title}, {study.ordering} order, {study.references} references, k = {row['k']}"
    said = f"{where}: {strong} ({difference}{counted(pair['n'], 'query', 'queries')})."
    return with_remark(said, would_undo("this verdict") if pair["stands"] is False else "")
