"""Build the first screen's table, which ranks the retrievers by P and includes zero-shot answers and oracles."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.analysis.labellings import HOLES_ABOVE
from ragrelay.analysis.verdicts import SAY_BETTER, SAY_WORSE, TOO_FEW
from ragrelay.report.display.findings import Row, unlike_student, would_undo
from ragrelay.report.display.numbers import MISSING, count, counted, listing, number, share
from ragrelay.report.facts import Difference, Facts, Gain
from ragrelay.report.lead_answers import short
from ragrelay.report.lead_figure import coloured, signed, verdict_in_short

MOST_ROWS = 10
UNDONE = "*"
"""Marks a verdict in the table that one more query would overturn."""


def table(facts: Facts) -> Row:
    """Build the table of each retriever's measure, P, gain and verdict at the first screen's k, sorted by P.

    Without zero-shot answers, the table shows differences from the reference retriever instead of gains.
    """
    section, lines, baseline = facts.section, facts.means, facts.zero_shot
    no_baseline, pair = not section.baseline, section.primary
    _, k, _, measure = section.lead.values()
    against = pair.reference if pair else None
    cells = facts.quality
    gains: Mapping[str, Gain | Difference] = facts.against_reference if no_baseline else facts.gains
    shown = coloured(facts)
    by_p = []
    for name in sorted(cells, key=lambda name: -(cells[name].mean_p or 0.0)):
        cell, gain = cells[name], gains.get(name)
        kind = "ranking" if name in section.rankings else "designed"
        by_p.append(_row(name, kind, gain or {}, number(cell.measured, 2), number(cell.mean_p, 2))
                    | {"coloured": name in shown, "unjudged": share(cell.share_unjudged)})  # fmt: skip
    rankings = [row for row in by_p if row["kind"] == "ranking"]
    designed = [row for row in by_p if row["kind"] == "designed"]
    between = [facts.pair_by_k[k]] if k in facts.pair_by_k and not no_baseline else []
    for against_other in between:
        measured = facts.paired(against_other, "measured")
        apart = signed(number(measured[0] - measured[1], 2)) if measured else ""
        winner = against_other.retriever if against_other.better and len(section.rankings) == 2 else ""
        for ranking in rankings:
            ranking["wins"] = ranking["name"] == winner
        names = f"{against_other.retriever} − {against_other.against_retriever}"
        rankings.append(_row(names, "pair", against_other, apart, signed(number(against_other.mean_difference, 2))))
    if baseline:
        zero = {"verdict": "baseline", "n": baseline.n}
        rankings.append(_row("zero-shot", "zero", zero, "", number(baseline.value, 2)))
    for row in by_p if no_baseline else ():
        row["n"] = next((mean.n for mean in lines.get(row["name"], []) if mean.k == k), 0)
    paired = [row.n for row in (gains.values() if no_baseline else between) if row.n]
    sizes = _sizes([*rankings, *designed], paired, "" if no_baseline else f"{measure}@{k}")
    fixed = sum(row["kind"] != "ranking" for row in rankings) + len(designed)
    ranked = [row for row in rankings if row["kind"] == "ranking"]
    named = (pair.retriever, pair.reference) if pair else ()
    for place, row in enumerate(ranked):
        row["more"] = place >= max(MOST_ROWS - fixed, 2) and row["name"] not in named
    winners = [row for row in ranked if row["word"] in SAY_BETTER]
    subject = {1: "The only retriever", 2: "Both retrievers"}.get(len(ranked), "All retrievers") if (
        len(winners) == len(ranked)) else f"{count(len(winners))} of {counted(len(ranked), 'retriever')}" if (
        winners) else "No retriever"  # fmt: skip
    beats = ("beats" if 1 in (len(ranked), len(winners)) else "beat") if winners else "is shown to beat"
    decided = not no_baseline and any(row["word"] != TOO_FEW and row["interval"] for row in ranked)
    tested = [facts.gains[row["name"]] for row in ranked if row["name"] in facts.gains]
    lacking = untested(sum(row.low is None and row.verdict != TOO_FEW for row in tested))
    title = f"{subject} {beats} zero-shot at k = {count(k)}{lacking}" if decided else (
        f"Retrievers at k = {count(k)}")  # fmt: skip
    fallen = [would_undo(f"any verdict marked {UNDONE}")] if any(
        row["verdict"].endswith(UNDONE) for row in [*rankings, *designed]) else []  # fmt: skip
    unlike = [unlike_student(gains[name], name) for name in cells if name in gains]
    other = "" if no_baseline else _other_queries(facts)
    return {"rows": rankings, "designed": designed, "measure": f"{measure}@{k}", "title": title,
            "unjudged": any((cell.share_unjudged or 0) > HOLES_ABOVE for cell in cells.values()),
            "remark": " ".join(filter(None, [*fallen, *unlike, other, sizes])),
            "last": f"P − {against}’s" if no_baseline else "gain over zero-shot", "compared": bool(gains),
            "more": sum(bool(row.get("more")) for row in ranked), "all": len(rankings) + len(designed)}  # fmt: skip


def _other_queries(facts: Facts) -> str:
    """Say which queries the table's P uses if the figure shows another P for the same retriever and k."""
    k, gains = facts.where["k"], facts.gains
    drawn = {name: number(mean.value, 2) for name, line in facts.means.items() for mean in line if mean.k == k}
    other = [name for name, p in drawn.items() if name in gains and p != number(facts.quality[name].mean_p, 2)]
    counts = listing([f"{count(gains[name].n)} with {name}" for name in other])
    here = f"In this table, P is averaged over queries that also have P₀ ({counts})"
    return f"{here}; in the figure, over all queries with P." if other else ""


def _sizes(rows: Sequence[Row], paired: Sequence[int], measure: str) -> str:
    """Add ``queries`` to the table's ``rows`` and explain the numbers of queries, if these differ.

    ``paired``: the number of queries in each difference; ``measure``: empty without zero-shot answers.
    """
    if len({*paired, *(row["n"] for row in rows if row["n"] is not None)}) < 2:
        return ""
    for row in rows:
        row["queries"] = counted(row["n"], "query", "queries") if row["n"] is not None else ""
    least = f"{count(min(paired))} to " if len({*paired}) > 1 else ""
    both = counted(max(paired, default=0), "query that has", "queries that have")
    said = [f"Differences between retrievers use the {least}{both} P for both"] if paired else []
    said += ["each gain uses its row’s queries", f"{measure} uses all queries with P or P₀"] if measure else []
    return f"{said[0][0].upper()}{'; '.join(said)[1:]}." if said else ""


def _row(name: str, kind: str, tested: Mapping[str, Any], measured: str, p: str) -> Row:
    word = tested.get("verdict") or ""
    mean = tested.get("mean_difference")
    gain, _, between = short(mean, tested["low"], tested["high"]).partition(" ") if mean is not None else ("", "", "")
    arrow = "↑ " if word in SAY_BETTER else "↓ " if word in SAY_WORSE else ""
    mark = UNDONE if tested.get("stands") is False else ""
    return {"name": name, "kind": kind, "word": word, "verdict": arrow + verdict_in_short(tested) + mark,
            "measure": "" if measured == MISSING else measured, "p": p, "interval": between,
            "wins": False, "more": False, "coloured": False, "unjudged": "", "n": tested.get("n"), "queries": "",
            "gain": signed(gain) if gain else ""}  # fmt: skip


def untested(number: int) -> str:
    return f"; {count(number)} cannot be compared" if number else ""
