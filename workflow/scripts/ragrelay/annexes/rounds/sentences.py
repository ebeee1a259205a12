"""Say whether a better list makes a better answer at once, by step, and what further rounds did."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW
from ragrelay.annexes.rounds.outputs import RESULT_TABLES
from ragrelay.annexes.rounds.study import RoundsShown
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import count, counted, listing, number, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

PER = 0.1
"""Slopes are shown per this much of the measure."""
ANSWERS = {
    relay.IT_IS: "A better list of passages gives a better answer at once",
    relay.IT_IS_NOT: "A better list of passages gives a worse answer at once",
    relay.NOT_KNOWN: "We do not know whether a better list of passages gives a better answer at once",
    TOO_FEW: "Too few queries to say whether a better list of passages gives a better answer at once",
}
AT_STEP = {ABOVE: "above zero", BELOW: "below zero", TOO_FEW: "too few queries"}


def rounds_answer(study: RoundsShown) -> Conclusion:
    """Conclude from the slope of all steps together, as measured and adjusted."""
    rows = study.slopes(None)
    said = ANSWERS[relay.answer_of(rows) if rows.height else TOO_FEW]
    asked, pair = study.asked, rows.to_dicts()
    where = f"in a search of {counted(asked['rounds'], 'round')} with {asked['reference']} as the reference"
    facts = tuple(TableRow(RESULT_TABLES[0], study.keys, row, ("references", "step", "adjusted")) for row in pair)
    return Conclusion("Search rounds", "Is relevance relayed at each step of a search?", f"{said}, {where}",
                      _slopes(study, pair), facts=facts)  # fmt: skip


def rounds_sentences(study: RoundsShown) -> list[str]:
    """Give the slope of each step, P by round, what the lists repeat, and which answers are missing."""
    told = (_steps(study), _by_round(study), *_lists(study), _unjudged(study), _missing(study), _apart(study))
    return [text for text in told if text]


def _slopes(study: RoundsShown, rows: Sequence[Row]) -> str:
    """Write the slopes as measured and adjusted, or why there is none."""
    reasons = [row["reason"] for row in rows if row["reason"]]
    if all(row["slope"] is None for row in rows):
        return "; ".join(dict.fromkeys(reasons))
    measured, adjusted = rows
    said = f"per {PER} of {study.asked['measure']}, P differs by {_per(measured)}"
    after = f", and by {_per(adjusted)} at equal difficulty" if adjusted["slope"] is not None else ""
    why = f" ({'; '.join(dict.fromkeys(reasons))})" if reasons else ""
    return f"{said}{after}, over {counted(measured['n'], 'query', 'queries')} whose lists differ{why}"


def _per(row: Row) -> str:
    slope, low, high = (None if row[name] is None else row[name] * PER for name in ("slope", "low", "high"))
    return with_interval(slope, low, high)


def _steps(study: RoundsShown) -> str:
    rows = [study.slopes(step).to_dicts()[0] for step in study["round_slopes"]["step"].drop_nulls().unique().sort()]
    told = [f"step {row['step']} {_step(row)}" for row in rows]
    level = f"; the intervals of all {len(rows)} hold simultaneously" if len(rows) > 1 else ""
    return f"By step, per {PER} of {study.asked['measure']}: {'; '.join(told)}{level}." if len(rows) > 1 else ""


def _step(row: Row) -> str:
    if row["slope"] is None:
        return f"none ({row['reason']})"
    word = AT_STEP.get(row["verdict"], "we do not know")
    return f"{_per(row)} ({f'{word}: ' if row['reason'] else word}{row['reason'] or ''})"


def _by_round(study: RoundsShown) -> str:
    """Follow P under the reference from round to round."""
    reference = study.asked["reference"]
    rows = [row for row in study.by_round.to_dicts() if row["retriever"] in (ZEROSHOT, reference)]
    means = [f"{_round(row)} {with_interval(row['p'], row['low'], row['high'])}" for row in rows]
    turns = [
        f"round {row['round']} made it worse for {count(row['worse'])} and better for {count(row['better'])} of "
        f"{counted(row['n'], 'query', 'queries')}, and left it unchanged for the others"
        for row in rows
        if row["round"] > 1
    ]
    further = f"; {listing(turns)}" if turns else ""
    return f"Mean P with the lists of {reference}: {', '.join(means)}{further}."


def _round(row: Row) -> str:
    return "without context" if row["retriever"] == ZEROSHOT else f"in round {row['round']}"


def _lists(study: RoundsShown) -> list[str]:
    """Say what the lists of later rounds repeat."""
    said: dict[int, list[str]] = {}
    for row in study.by_round.to_dicts():
        if row["round"] > 1 and row["repeated"] is not None:
            told = (
                f"{share(row['repeated'])} with {row['retriever']} ({share(row['empty'])} of its lists add no passage)"
            )
            said.setdefault(row["round"], []).append(told)
    return [
        f"Passages found in round {number_} that were shown before or are near copies: {listing(parts)}."
        for number_, parts in said.items()
    ]


def _unjudged(study: RoundsShown) -> str:
    """Say which share of the new passages has no judgement, if any has none: a list may be better than it seems."""
    rows = [row for row in study.by_round.to_dicts() if row["unjudged"] is not None]
    parts = [f"{share(row['unjudged'])} in round {row['round']} with {row['retriever']}" for row in rows]
    few = not any(row["unjudged"] for row in rows)
    return "" if few else f"New passages without a judgement count as not relevant: {listing(parts)}."


def _apart(study: RoundsShown) -> str:
    """Say that the page's other counts are of round 1 alone."""
    text = "All other parts of the page, including counts of answers and tokens, cover only round 1."
    return text if study.later else ""


def _missing(study: RoundsShown) -> str:
    """Say which share of the answers is missing, by round and retriever."""
    rows: list[Mapping[str, Any]] = [row for row in study.by_round.to_dicts() if row["missing"]]
    parts = [f"{share(row['missing'], 1)} in round {row['round']} with {row['retriever']}" for row in rows]
    return f"Missing answers count as 0: {listing(parts)}." if parts else ""


def tokens(value: float | None) -> str:
    """Write a mean number of tokens."""
    return number(value, 0)
