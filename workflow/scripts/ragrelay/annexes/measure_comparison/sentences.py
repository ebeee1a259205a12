"""Write the page's sentences about which measures track answer quality most closely."""

from collections.abc import Sequence

from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import ABOVE, BELOW, TOO_FEW
from ragrelay.annexes.measure_comparison.closeness import (
    CLOSER,
    MOST_CLOSELY,
    NOT_BEATEN,
    WITHOUT_RELAY,
    names_of,
)
from ragrelay.annexes.measure_comparison.outputs import RESULT_TABLES
from ragrelay.annexes.measure_comparison.study import MeasuresShown
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import counted, listing, p_compared, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

HEADING = "Measures", "Which measure should you tune?"
UNKNOWN = "We do not know which measure tracks answer quality most closely"


def measures_answer(study: MeasuresShown) -> Conclusion:
    """Conclude which measure tracks answer quality most closely, from the comparisons in the primary cell."""
    rows: list[Row] = list(study.fits.to_dicts())
    said, numbers = _concluded(study, rows)
    key = ("ordering", "k", "references", "measure")
    facts = [TableRow(RESULT_TABLES[0], study.keys, row, key) for row in rows]
    return Conclusion(*HEADING, said, numbers, facts=tuple(facts))


def heading(answers: Sequence[Conclusion]) -> str:
    """Return a heading for all sections: their common conclusion, or a note that the conclusions differ."""
    said = {answer.strong for answer in answers}
    return said.pop() if len(said) == 1 else "The answer differs between datasets, generators or scorers"


def measure_sentences(study: MeasuresShown) -> list[str]:
    """Write sentences about the primary cell, significant differences, measures without relay, ties and nuggets."""
    rows: list[Row] = list(study.fits.to_dicts())
    told = (_where(study, rows), *_ahead(study), _without(rows), _tied(rows), _same_nuggets(study))
    return [text for text in told if text]


def _concluded(study: MeasuresShown, rows: list[Row]) -> tuple[str, str]:
    """Write the conclusion and its numbers."""
    if not rows:
        return UNKNOWN, "there are no two rankings with answers and measures for the same queries"
    if few := [row for row in rows if row["verdict"] == TOO_FEW]:
        return "Too few queries to compare measures", few[0]["reason"]
    if most := names_of(rows, MOST_CLOSELY):
        return f"{most[0]} tracks answer quality most closely", _leads(study, rows, most[0])
    if all(row["verdict"] == WITHOUT_RELAY for row in rows):
        return UNKNOWN, "relay is not demonstrated for any measure"
    if study.declared:
        if closer := names_of(rows, CLOSER):
            track = "tracks" if len(closer) == 1 else "track"
            return f"{listing(list(closer))} {track} answer quality more closely than {study.declared}", ""
        return f"No measure is shown to track answer quality more closely than {study.declared}", ""
    free = listing(list(names_of(rows, NOT_BEATEN)))
    beaten = "every measure with demonstrated relay is beaten by another"
    return UNKNOWN, f"no measure is shown to be ahead of {free}" if free else beaten


def _leads(study: MeasuresShown, rows: list[Row], most: str) -> str:
    """State r for the measure that is ahead of all others, and its smallest lead."""
    own = next(row for row in rows if row["measure"] == most)
    leads = [(row["difference"], row["against_measure"], row["p_value"])
             if row["measure"] == most else (-row["difference"], row["measure"], row["p_value"])
             for row in study.pairs.to_dicts() if most in (row["measure"], row["against_measure"])]  # fmt: skip
    lead, other, p = min(leads)
    r = with_interval(own["r"], own["low"], own["high"])
    over = f"its smallest lead in r² is {with_interval(lead, None, None)}, over {other} (p {p_compared(p)})"
    return f"r = {r}; {over}, and it leads in each of {counted(len(leads), 'comparison')} at the 95% level"


def _where(study: MeasuresShown, rows: list[Row]) -> str:
    cell = study.cell
    where = f"{cell['ordering']} order, k = {cell['k']}, {cell['references']} references"
    return f"{where}: {counted(rows[0]['n'], 'query has', 'queries have')} contexts that differ." if rows else ""


def _ahead(study: MeasuresShown) -> list[str]:
    """Name the measures that each measure is significantly ahead of."""
    beaten: dict[str, list[str]] = {}
    for row in study.pairs.to_dicts():
        ahead, behind = row["measure"], row["against_measure"]
        if row["verdict"] in (ABOVE, BELOW):
            ahead, behind = (ahead, behind) if row["verdict"] == ABOVE else (behind, ahead)
            beaten.setdefault(ahead, []).append(behind)
    return [f"{ahead} tracks answer quality more closely than {listing(behind)}." for ahead, behind in beaten.items()]


def _without(rows: list[Row]) -> str:
    """Name the measures without demonstrated relay, which can't be ahead of others."""
    names = names_of(rows, WITHOUT_RELAY)
    reversed_ = [row["measure"] for row in rows if row["relay"] == relay.IT_IS_NOT]
    said = f"Relay is not demonstrated for {listing(list(names))}" if names else ""
    return f"{said}{f'; the slopes for {listing(reversed_)} are below zero' if reversed_ else ''}." if said else ""


def _tied(rows: list[Row]) -> str:
    known = [row for row in rows if row["share_tied"] is not None and row["relay"] == relay.IT_IS]
    parts = [f"{share(row['share_tied'])} with {row['measure']}" for row in known]
    return f"Share of pairs of different contexts with equal values of the measure: {listing(parts)}." if parts else ""


def _same_nuggets(study: MeasuresShown) -> str:
    """Warn that a nugget scorer and subtopic measures may count the same nuggets."""
    if study.keys["scorer"] not in study.params["nuggets"] or not study.params["subtopics"]:
        return ""
    names = listing(study.params["subtopics"])
    return f"If {study.keys['scorer']} and {names} count the same nuggets, that partly explains why they agree."
