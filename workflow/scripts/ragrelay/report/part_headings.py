"""Write the headings of a section's parts, each as a sentence that states the part's main finding."""

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.verdicts import ABOVE, BELOW, SAY_BETTER, SAY_WORSE, TOO_FEW
from ragrelay.report import answer_findings
from ragrelay.report.display.numbers import count, listing, number, out_of, share
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Facts
from ragrelay.report.lead_answers import RELAYED, relayed
from ragrelay.report.lead_figure import coloured, signed
from ragrelay.report.lead_table import untested
from ragrelay.report.lead_warnings import copying
from ragrelay.report.panel_page import panel_finding
from ragrelay.report.verdict_sentences import not_compared

COUNTING = ("gain", "systems", "relayed")
"""Parts whose headings count verdicts."""
RELAY_IN_SHORT = {RELAYED[relay.NOT_KNOWN]: "undecided", RELAYED[relay.TOO_FEW]: "cannot be tested"}
"""Shorter forms of conclusions on relay, for headings."""


def counted_where(section: Section) -> str:
    """Return a note that says which cells are counted in a section's headings."""
    ordering, _, references, _ = section.lead.values()
    oracles = ", oracles excluded" if len(section.rankings) < len(section.grid.retrievers) else ""
    return (
        f"The counts in this heading include only cells with {ordering} order and {references} references (all "
        f"k{oracles}); the tables list every cell."
    )


def headings(facts: Facts) -> dict[str, str]:
    """Return headings that state findings, keyed by part. Parts without a finding have no key."""
    section = facts.section
    ordering, _, references, measure = section.lead.values()
    rankings, where = pl.col("retriever").is_in(section.rankings), {"ordering": ordering, "references": references}
    gains = section["gain"].filter(rankings, pl.col("n") > 0, **where)
    rho = section["correlation"].filter(rankings, coefficient=DECIDES, subset="all", measure=measure, **where)
    ranked = rho.drop_nulls("value")
    others = pl.col("against_retriever").is_in(section.rankings)
    pairs = section["systems"].filter(rankings, others, **where)
    lines, texts = facts.means, dict[str, str]()
    if gains.height and not _decided(gains):
        texts["gain"] = not_compared(gains)
    elif gains.height:
        tested = gains.filter(pl.col("low").is_not_null() | (pl.col("verdict") == TOO_FEW))
        text = _share(gains, "Answers are better with passages", SAY_BETTER, "worse", SAY_WORSE, tested=tested)
        texts["gain"] = text + _besides(gains)
    if _decided(pairs):
        either = (*SAY_BETTER, *SAY_WORSE)
        known = sum(verdict in either for verdict in pairs["verdict"])
        show = "shows" if 1 in (known, pairs.height) or (known == 0 and pairs.height > 2) else "show"
        which = out_of(known, pairs.height, "comparison")
        text = f"{which[0].upper()}{which[1:]} {show} which retriever gives better answers"
        few = pairs.filter(verdict=TOO_FEW).height
        texts["systems"] = text + (f" ({TOO_FEW} in {count(few)})" if few else "") + _besides(pairs)
    if not section["relay"].is_empty():
        strong = relayed(facts).strong
        said = RELAY_IN_SHORT.get(strong, strong[0].lower() + strong[1:])
        texts["relay"] = f"Relay at k = {section.lead['k']}: {said}"
    if ranked.height:
        text = "Queries with better rankings have higher utility"
        lacking = rho.height - ranked.height
        without = f"; ρ is undefined in {count(lacking)}" if lacking else ""
        texts["relayed"] = _share(rho, text, (ABOVE,), "lower", (BELOW,), tested=ranked) + without
    ends = (section.grid.k[0], section.grid.k[-1])
    shown = [name for name in coloured(facts) if (lines[name][0].k, lines[name][-1].k) == ends]
    changes = {name: _change(section, name) for name in lines if name in shown and len(section.grid.k) > 1}
    moved = [f"{signed(number(value, 2))} with {name}" for name, value in changes.items() if value is not None]
    if moved:
        from_to = f"From k = {section.grid.k[0]} to {section.grid.k[-1]}"
        texts["table"] = f"{from_to}, P changes by {listing(moved)} (not tested for significance)"
    if found := panel_finding(section):
        texts["panel"] = found
    if copied := copying(facts):
        texts["copying"] = f"At k = {section.lead['k']}, {copied[0].text.partition(';')[0]}"
    if lost := answer_findings.missing(section):
        texts["answers"] = f"{lost} of all answers are missing"
    else:
        for text, value in list(answer_findings.ends(section).items())[:1]:
            texts["answers"] = f"{share(value)} of {answer_findings.counted_answers(section)} {text}"
    return texts


def _change(section: Section, retriever: str) -> float | None:
    """Return the change in mean P from the first to the last k, over queries with P at both; None if there is none."""
    ordering, _, references, _ = section.lead.values()
    here = section["per_query"].filter(retriever=retriever, ordering=ordering, references=references).drop_nulls("p")
    first, last = (here.filter(k=k).select("qid", "p") for k in (section.grid.k[0], section.grid.k[-1]))
    both = first.join(last, on="qid", suffix="_last", maintain_order="left")
    return None if both.is_empty() else float(both["p_last"].to_numpy().mean() - both["p"].to_numpy().mean())


def _decided(tests: pl.DataFrame) -> bool:
    """Return whether any of ``tests`` has enough queries and an interval, and so a verdict."""
    return not tests.filter(pl.col("low").is_not_null(), pl.col("verdict") != TOO_FEW).is_empty()


def _besides(tests: pl.DataFrame) -> str:
    """Say how many of ``tests`` lack an interval, if any, apart from tests with too few queries."""
    return untested(tests.filter(pl.col("low").is_null(), pl.col("verdict") != TOO_FEW).height)


def _share(
    tests: pl.DataFrame, text: str, of: tuple[str, ...], less: str = "", other: tuple[str, ...] = (),
    tested: pl.DataFrame | None = None,
) -> str:  # fmt: skip
    """Say how many cells have one of the verdicts ``of``.

    With ``less``, also say how many have one of the verdicts ``other``, how many of the ``tested`` have neither, and
    why.
    """
    verdicts = tests["verdict"].to_list()
    more, fewer = (sum(verdict in group for verdict in verdicts) for group in (of, other))
    few = 0 if tested is None else tested.filter(verdict=TOO_FEW).height
    unknown = 0 if tested is None else tested.height - more - fewer - few
    counts = {less: fewer, "undecided": unknown, TOO_FEW: few}
    rest = [f"{word} in {count(some)}" for word, some in counts.items() if some]
    besides = f" ({', '.join(rest)})" if rest else ""
    return f"{text} in {out_of(more, tests.height, 'combination')} of retriever and k{besides}"
