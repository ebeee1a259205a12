"""Write the page's sentences about whether better lists immediately lead to better answers, and about later rounds."""

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
"""The page states slopes per this increase in the measure."""
ANSWERS = {
    relay.IT_IS: "A better list of passages immediately leads to a better answer",
    relay.IT_IS_NOT: "A better list of passages immediately leads to a worse answer",
    relay.NOT_KNOWN: "We do not know whether a better list of passages immediately leads to a better answer",
    TOO_FEW: "Too few queries to say whether a better list of passages immediately leads to a better answer",
}
AT_STEP = {ABOVE: "above zero", BELOW: "below zero", TOO_FEW: "too few queries"}


def rounds_answer(study: RoundsShown) -> Conclusion:
    """Conclude whether better lists lead to better answers, from relay's slopes over all steps."""
    rows = study.slopes(None)
    said = ANSWERS[relay.answer_of(rows) if rows.height else TOO_FEW]
    asked, pair = study.asked, rows.to_dicts()
    where = f"{counted(asked['rounds'], 'round')}, reference {asked['reference']}"
    facts = tuple(TableRow(RESULT_TABLES[0], study.keys, row, ("references", "step", "adjusted")) for row in pair)
    return Conclusion("Search rounds", "Is relevance relayed at each step of a search?", f"{said} ({where})",
                      _slopes(study, pair), facts=facts)  # fmt: skip


def rounds_sentences(study: RoundsShown) -> list[str]:
    """Write sentences about relay at each step, P by round, repeated passages, and missing answers."""
    told = (_steps(study), _by_round(study), *_lists(study), _unjudged(study), _missing(study), _apart(study))
    return [text for text in told if text]


def _slopes(study: RoundsShown, rows: Sequence[Row]) -> str:
    """Write the slopes as measured and adjusted, or why there are none."""
    reasons = [row["reason"] for row in rows if row["reason"]]
    if all(row["slope"] is None for row in rows):
        return "; ".join(dict.fromkeys(reasons))
    measured, adjusted = rows
    said = f"per {PER} of {study.asked['measure']}, P changes by {_per(measured)}"
    after = f", or by {_per(adjusted)} at equal difficulty" if adjusted["slope"] is not None else ""
    why = "".join(f"; {reason}" for reason in dict.fromkeys(reasons))
    return f"{said}{after} ({counted(measured['n'], 'query', 'queries')} whose lists differ{why})"


def _per(row: Row) -> str:
    slope, low, high = (None if row[name] is None else row[name] * PER for name in ("slope", "low", "high"))
    return with_interval(slope, low, high)


def _steps(study: RoundsShown) -> str:
    rows = [study.slopes(step).to_dicts()[0] for step in study["round_slopes"]["step"].drop_nulls().unique().sort()]
    told = [f"{_step(row)} in step {row['step']}" for row in rows]
    said = f"Change in P per {PER} of {study.asked['measure']}, by step: {'; '.join(told)}"
    return f"{said}. The intervals of all {len(rows)} steps hold simultaneously." if len(rows) > 1 else ""


def _step(row: Row) -> str:
    if row["slope"] is None:
        return f"no estimate ({row['reason']})"
    word = AT_STEP.get(row["verdict"], "undecided")
    return f"{_per(row)} ({f'{word}: ' if row['reason'] else word}{row['reason'] or ''})"


def _by_round(study: RoundsShown) -> str:
    """State mean P with the reference's lists in each round, and for how many queries it rose or fell."""
    reference = study.asked["reference"]
    rows = [row for row in study.by_round.to_dicts() if row["retriever"] in (ZEROSHOT, reference)]
    means = [f"{with_interval(row['p'], row['low'], row['high'])} {_round(row)}" for row in rows]
    turns = [
        f" In round {row['round']}, P fell for {count(row['worse'])} and rose for {count(row['better'])} of "
        f"{counted(row['n'], 'query', 'queries')}; it stayed the same for the others."
        for row in rows
        if row["round"] > 1
    ]
    return f"With {reference}’s lists, mean P is {listing(means)}.{''.join(turns)}"


def _round(row: Row) -> str:
    return "without context" if row["retriever"] == ZEROSHOT else f"in round {row['round']}"


def _lists(study: RoundsShown) -> list[str]:
    """State how much the lists of later rounds repeat."""
    said: dict[int, list[str]] = {}
    for row in study.by_round.to_dicts():
        if row["round"] > 1 and row["repeated"] is not None:
            told = (
                f"{share(row['repeated'])} with {row['retriever']} ({share(row['empty'])} of its lists add no passage)"
            )
            said.setdefault(row["round"], []).append(told)
    return [
        f"Share of passages found in round {number_} that repeat or nearly copy earlier passages: {listing(parts)}."
        for number_, parts in said.items()
    ]


def _unjudged(study: RoundsShown) -> str:
    """State the share of new passages without a judgement, if there are any: lists may be better than they seem."""
    rows = [row for row in study.by_round.to_dicts() if row["unjudged"] is not None]
    parts = [f"{share(row['unjudged'])} in round {row['round']} with {row['retriever']}" for row in rows]
    few = not any(row["unjudged"] for row in rows)
    return "" if few else f"New passages without a judgement count as not relevant; their share is {listing(parts)}."


def _apart(study: RoundsShown) -> str:
    """Say that the page's other parts cover only round 1."""
    text = "All other parts of the page, including counts of answers and tokens, cover only round 1."
    return text if study.later else ""


def _missing(study: RoundsShown) -> str:
    """State the share of missing answers, by round and retriever."""
    rows: list[Mapping[str, Any]] = [row for row in study.by_round.to_dicts() if row["missing"]]
    parts = [f"{share(row['missing'], 1)} in round {row['round']} with {row['retriever']}" for row in rows]
    return f"Missing answers count as 0; their share is {listing(parts)}." if parts else ""


def tokens(value: float | None) -> str:
    """Format a mean number of tokens."""
    return number(value, 0)
