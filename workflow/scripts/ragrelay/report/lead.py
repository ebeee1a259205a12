"""Make the first screen of a section: its answers, a figure, a table, and warnings about how to read them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.labellings import HOLES_ABOVE
from ragrelay.analysis.verdicts import ABOVE, BELOW, SAY_BETTER, SAY_WORSE, TOO_FEW
from ragrelay.report import answer_findings, verdict_sentences
from ragrelay.report.display.findings import Warned, undone, unlike_student, with_remark, would_undo
from ragrelay.report.display.numbers import MISSING, count, counted, listing, number, share
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Fact, Facts, Gain
from ragrelay.report.lead_figure import coloured, lead_figure, signed, verdict_in_short
from ragrelay.report.missing import reasons
from ragrelay.report.panel_page import panel_finding, panel_warning
from ragrelay.report.verdict_sentences import short

Row = dict[str, Any]
MOST_ROWS = 10
REPRESENTATIVE, MANY = 36, 100
"""With fewer queries, rare kinds may be missing; with fewer than MANY, the page says which differences it can find."""
UNDONE = "*"
"""Marks a verdict of the table that does not stand."""
OF_ALL, WITHOUT_ZEROSHOT = "all answers (all k and retrievers, with zero-shot)", "all answers (all k and retrievers)"
COPIED = 0.5
"""The page warns if at least this share of answers had its nearest reference in the context."""
LEVEL = 0.951
"""An interval with a higher level shows it: all others on the first screen have 95%."""


def lead(facts: Facts, part: int, explored: bool, left_out: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Return a section's first screen. ``part``: its index in the explorer; ``left_out``: records of left_out.json."""
    return {
        "answers": verdict_sentences.answers(facts),
        "scope": scope(facts.section),
        "looks": facts.section.looks,
        "figure": lead_figure(facts, part, explored),
        "figure_title": figure_title(facts),
        "figure_remark": figure_remark(facts),
        "table": table(facts),
        "warnings": warnings(facts, left_out),
    }


def size(sections: Sequence[Section]) -> str:
    """Describe the study's size in a line."""
    section = sections[0]
    n = max(section["utility"]["n"].drop_nulls(), default=0)
    designed = len(section.grid.retrievers) - len(section.rankings)
    oracles = f", {counted(designed, 'oracle')}" if designed else ""
    ks = listing([count(k) for k in section.grid.k])
    parts = {key: {each.keys[key] for each in sections} for key in section.keys}
    several = {key: counted(len(names), key) if len(names) > 1 else section.keys[key] for key, names in parts.items()}
    return " · ".join([
        several["dataset"] if len(parts["dataset"]) > 1 else counted(n, "query", "queries"),
        f"{counted(len(section.rankings), 'retriever')}{oracles}", f"k = {ks}",
        counted(len(section.grid.seeds), "seed"), f"{several['generator']}, scored by {several['scorer']}",
    ])  # fmt: skip


def scope(section: Section) -> str:
    """Say at which k, ordering and references the answers hold."""
    ordering, k, references, _ = section.lead.values()
    left = "; without oracles" if len(section.rankings) < len(section.grid.retrievers) else ""
    if section.primary and not {*section.primary[:2]} <= {*section.rankings}:
        left = "; only the first answer compares oracles"
    where = f"k = {count(k)} unless stated otherwise, {ordering} order, {references} references{left}"
    return f"{where}. Brackets: 95% intervals."


def figure_title(facts: Facts) -> str:
    """Say at which k the primary pair's difference is decided."""
    rows = [row for _, row in sorted(facts.pair_by_k.items())]
    ahead = {"{} is ahead": [row for row in rows if row.better], "{0} is ahead": [row for row in rows if row.worse]}
    parts = []
    for text, some in ahead.items():
        if some:
            name = some[0].retriever if some[0].better else some[0].against_retriever
            parts.append(f"{text.format(name)} at k = {_ks(some)}")
    if not parts:
        return "Answer quality P against k, the number of passages in the context"
    few = [row for row in rows if row.verdict == TOO_FEW]
    open_at = [row for row in rows if not row.better and not row.worse and row not in few]
    parts += [f"at k = {_ks(open_at)} we do not know"] if open_at else []
    return "; ".join(parts + ([f"at k = {_ks(few)} {TOO_FEW}"] if few else []))


def figure_remark(facts: Facts) -> str:
    """Name each k at which the verdict in figure_title does not stand; empty if all stand."""
    decided = [row for _, row in sorted(facts.pair_by_k.items()) if row.better or row.worse]
    fallen = [row for row in decided if row.stands is False]
    return would_undo(f"the verdict at k = {_ks(fallen)}") if fallen else ""


def _ks(rows: Sequence[Difference]) -> str:
    return listing([count(row.k) for row in rows])


def table(facts: Facts) -> dict[str, Any]:
    """Show retrievers at the answers' k, best first: verdict, measure, P, and gain or, without P_0, difference.

    If the share of passages without a judgement is above HOLES_ABOVE for any retriever, it is next to the measure.
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
    subject = f"{'Both' if len(ranked) == 2 else 'All'} retrievers" if len(winners) == len(ranked) > 1 else (
        f"{count(len(winners))} of {counted(len(ranked), 'retriever')}")  # fmt: skip
    beats = "beats" if len(ranked) == 1 else "beat"
    decided = not no_baseline and any(row["word"] != TOO_FEW and row["interval"] for row in ranked)
    tested = [facts.gains[row["name"]] for row in ranked if row["name"] in facts.gains]
    untested = _untested(sum(row.low is None and row.verdict != TOO_FEW for row in tested))
    title = f"{subject} {beats} zero-shot at k = {count(k)}{untested}" if decided else (
        f"Retrievers at k = {count(k)}")  # fmt: skip
    fallen = [would_undo(f"a verdict marked {UNDONE}")] if any(
        row["verdict"].endswith(UNDONE) for row in [*rankings, *designed]) else []  # fmt: skip
    unlike = [unlike_student(gains[name], name) for name in cells if name in gains]
    other = "" if no_baseline else _other_queries(facts)
    return {"rows": rankings, "designed": designed, "measure": f"{measure}@{k}", "title": title,
            "unjudged": any((cell.share_unjudged or 0) > HOLES_ABOVE for cell in cells.values()),
            "remark": " ".join(filter(None, [*fallen, *unlike, other, sizes])),
            "last": f"P − {against}’s" if no_baseline else "gain over zero-shot", "compared": bool(gains),
            "more": sum(bool(row.get("more")) for row in ranked), "all": len(rankings) + len(designed)}  # fmt: skip


def _other_queries(facts: Facts) -> str:
    """Name the queries that the table's P covers, if the figure has a different P for the same retriever and k."""
    k, gains = facts.where["k"], facts.gains
    drawn = {name: number(mean.value, 2) for name, line in facts.means.items() for mean in line if mean.k == k}
    other = [name for name, p in drawn.items() if name in gains and p != number(facts.quality[name].mean_p, 2)]
    counts = listing([f"{count(gains[name].n)} with {name}" for name in other])
    return (
        f"Here, P covers only queries that also have P₀ ({counts}); in the figure, it covers all queries with P."
        if other
        else ""
    )


def _sizes(rows: Sequence[Row], paired: Sequence[int], measure: str) -> str:
    """Add ``queries`` to the table's ``rows`` and explain their numbers of queries, if these differ.

    ``paired``: the queries of each difference between retrievers; ``measure``: empty without zero-shot answers.
    """
    if len({*paired, *(row["n"] for row in rows if row["n"] is not None)}) < 2:
        return ""
    for row in rows:
        row["queries"] = counted(row["n"], "query", "queries") if row["n"] is not None else ""
    least = f"{count(min(paired))} to " if len({*paired}) > 1 else ""
    said = [f"A difference between retrievers covers the {least}{counted(max(paired), 'query', 'queries')} that both "
            "have"] if paired else []  # fmt: skip
    said += ["a gain covers the row’s queries", f"{measure} covers all queries with P or P₀"] if measure else []
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


def warnings(facts: Facts, left_out: Sequence[Mapping[str, object]] = ()) -> list[Warned]:
    """Return warnings that affect how to read the answers, a line each. ``left_out``: records of left_out.json."""
    section, pair = facts.section, facts.primary
    of_pair = () if pair is None else (pair, *_qualities(facts, pair.retriever, pair.against_retriever))
    lines = [*_pair(section), *panel_warning(section)]
    lines += [Warned("Unjudged passages", text, of_pair) for text in verdict_sentences.unjudged(facts)]
    labelled = tuple(facts.labelled.values())
    lines += [
        Warned("Relay and unjudged passages", text, labelled) for text in verdict_sentences.relay_with_holes(facts)
    ]
    lines += [Warned("Relay", text, tuple(facts.deciding)) for text in verdict_sentences.relay_left_open(facts)]
    lines += verdict_sentences.clustered(facts)
    lines += _other_retrievers(facts)
    n = 0 if pair is None else pair.n
    if pair is not None and n < MANY and pair.detectable_difference is not None:
        rare = f" Query types rarer than about 1 in {count(round(n / 3))} may be missing from a sample of {n}." if (
            n < REPRESENTATIVE) else ""  # fmt: skip
        least = number(pair.detectable_difference, 2 if pair.detectable_difference >= 0.005 else 4)
        between = f"between {pair.retriever} and {pair.against_retriever}"
        text = f"a study of this size has an 80% chance of detecting a true difference in P {between} of {least}.{rare}"
        lines.append(Warned(counted(n, "query", "queries"), text, (pair,)))
    lines += _other_cells(facts)
    lines += _copying(facts)
    needed = relay.ADJUSTED_AT_LEAST if section.baseline else relay.DIFFERING_AT_LEAST
    lines += [
        Warned(f"k = {k}", f"too few queries to assess relay: {verdict_sentences.why_no_slope(slopes)}.", tuple(slopes))
        for k, slopes in facts.too_few_at.items()
        if min(slope.n for slope in slopes) < min(n, needed)
    ]
    of_all = OF_ALL if section.baseline else WITHOUT_ZEROSHOT
    if lost := answer_findings.missing(section):
        why = reasons(left_out, section.dataset, section.generator, facts.answers.absent)
        said = f"{lost} of {of_all} are missing{why}; they {answer_findings.NO_SCORE}."
        lines.append(Warned("Answers", said, (facts.answers,)))
    counts = () if section.scored else (facts.answers,)
    of_all = answer_findings.counted_answers(section, of_all)
    return lines + [
        Warned("Answers", f"{share(value)} of {of_all} {text}; they are scored like the others.", counts)
        for text, value in answer_findings.ends(section).items()
    ]


def _qualities(facts: Facts, *names: str) -> tuple[Fact, ...]:
    return tuple(facts.quality[name] for name in names if name in facts.quality)


def _pair(section: Section) -> list[Warned]:
    """Say which of more than two rankings are the primary pair, why, and how to name another in time."""
    pair = section.primary
    if pair is None or len(section.rankings) < 3:
        return []
    why, other = "as set in the configuration", ""
    if not section.named_pair:
        own = pair.reference == section.reference_retriever
        why = "the grid’s first retriever and the reference retriever" if own else "the grid’s first two retrievers"
        other = " To choose another pair, set analysis.primary (retriever and reference) before there are answers."
    alone = "Its interval is not corrected for other pairs."
    return [Warned("Primary pair", f"{pair.retriever} and {pair.reference}, {why}. {alone}{other}")]


def _other_retrievers(facts: Facts) -> list[Warned]:
    """Compare the other rankings with the reference retriever, if the primary pair is one of many."""
    rows = facts.other_pairs
    named = {
        "answers are better with {}": [row for row in rows if row.better],
        "answers are worse with {}": [row for row in rows if row.worse],
        "we do not know for {}": [row for row in rows if not row.better and not row.worse and row.verdict != TOO_FEW],
        f"there are {TOO_FEW} to say for {{}}": [row for row in rows if row.verdict == TOO_FEW],
    }
    parts = [text.format(listing([row.retriever for row in some])) for text, some in named.items() if some]
    if facts.section.primary is None or not parts:
        return []
    decided = [row for row in [*rows] if row.better] + [row for row in rows if row.worse]
    said = with_remark(f"{'; '.join(parts)} (intervals by Bonferroni’s method).", undone(decided))
    return [Warned(f"Other retrievers against {facts.section.reference_retriever}", said, tuple(rows))]


def _other_cells(facts: Facts) -> list[Warned]:
    """Warn of orderings and reference grades for which the primary pair's conclusion differs."""
    ordering, k, references = facts.where.values()
    here, lines = facts.pair_by_k.get(k), []
    for row in facts.pair_by_cell.values() if here else ():
        alike = (row.ordering == ordering) + (row.references == references)
        if row.k == k and alike == 1 and row.low is not None and here is not None and _side(row) != _side(here):
            text = f"{row.retriever} is better" if row.better else f"{row.against_retriever} is better"
            unknown = TOO_FEW if row.verdict == TOO_FEW else "we do not know which is better"
            text = text if row.better or row.worse else unknown
            wider = f" ({share(row.level, 1)} interval)" if row.level and row.level > LEVEL else ""
            numbers = f"{short(row.mean_difference or 0.0, row.low, row.high)}{wider}"
            remark = would_undo("this") if (row.better or row.worse) and row.stands is False else ""
            said = with_remark(f"{text}: difference {numbers}.", remark)
            head = f"{row.ordering} order" if row.ordering != ordering else f"{row.references} references"
            lines.append(Warned(f"{head[0].upper()}{head[1:]}", said, (row,)))
    return lines


def _side(row: Difference) -> tuple[bool, bool]:
    return row.better, row.worse


def _copying(facts: Facts) -> list[Warned]:
    most = facts.copied
    if not most or (most[0].share_best_in_context or 0.0) < COPIED:
        return []
    names, copied = listing([each.retriever for each in most]), share(most[0].share_best_in_context)
    known = [name for name in facts.section.rankings if name in facts.quality]
    known = [name for name in known if facts.quality[name].share_best_in_context is not None]
    less = [name for name in known if name not in {each.retriever for each in most}]
    others = listing(less) if len(less) <= verdict_sentences.MOST_NAMED else "the other rankings"
    most_of = f" (a smaller share with {others})" if less else ""
    altered = verdict_sentences.as_processed(facts.section, [each.retriever for each in most])
    text = f"with {names}, {copied} of the answers have their best-matching reference in the prompt{altered}{most_of}"
    return [Warned("Copying", f"{text}; P may partly measure copying.", tuple(most))]


COUNTING = ("gain", "systems", "relayed")
"""Parts whose headings count verdicts."""


def counted_where(section: Section) -> str:
    """Say which rows the headings of the parts COUNTING count."""
    ordering, _, references, _ = section.lead.values()
    oracles = ", without oracles" if len(section.rankings) < len(section.grid.retrievers) else ""
    return (
        f"The title counts only cells with {ordering} order and {references} references, at every k{oracles}; the "
        "tables have all cells."
    )


def headings(facts: Facts) -> dict[str, str]:
    """Return headings that state the finding of a part, for the section's parts that have one."""
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
        texts["gain"] = verdict_sentences.not_compared(gains)
    elif gains.height:
        tested = gains.filter(pl.col("low").is_not_null() | (pl.col("verdict") == TOO_FEW))
        text = _share(gains, "Passages make the answer better", SAY_BETTER, "worse", SAY_WORSE, tested=tested)
        texts["gain"] = text + _besides(gains)
    if _decided(pairs):
        either = (*SAY_BETTER, *SAY_WORSE)
        known = sum(verdict in either for verdict in pairs["verdict"])
        show = "shows" if 1 in (known, pairs.height) else "show"
        text = f"{count(known)} of {counted(pairs.height, 'comparison')} {show} which retriever gives better answers"
        few = pairs.filter(verdict=TOO_FEW).height
        texts["systems"] = text + (f", {TOO_FEW} in {count(few)}" if few else "") + _besides(pairs)
    if not section["relay"].is_empty():
        said = verdict_sentences.relayed(facts).strong
        texts["relay"] = f"Relay at k = {section.lead['k']}: {said[0].lower()}{said[1:]}"
    if ranked.height:
        text = "Better-ranked queries have higher utility"
        lacking = rho.height - ranked.height
        without = f"; {count(lacking)} {'has' if lacking == 1 else 'have'} no ρ" if lacking else ""
        texts["relayed"] = _share(rho, text, (ABOVE,), "lower", (BELOW,), tested=ranked) + without
    ends = (section.grid.k[0], section.grid.k[-1])
    shown = [name for name in coloured(facts) if (lines[name][0].k, lines[name][-1].k) == ends]
    changes = {name: _change(section, name) for name in lines if name in shown and len(section.grid.k) > 1}
    moved = [f"{signed(number(value, 2))} with {name}" for name, value in changes.items() if value is not None]
    if moved:
        from_to = f"From k = {section.grid.k[0]} to {section.grid.k[-1]}"
        texts["table"] = f"{from_to}, P changes by {listing(moved)} (not tested)"
    if found := panel_finding(section):
        texts["panel"] = found
    if copied := _copying(facts):
        texts["copying"] = f"At k = {section.lead['k']}, {copied[0].text.partition(';')[0]}"
    if lost := answer_findings.missing(section):
        texts["answers"] = f"{lost} of all answers are missing"
    else:
        for text, value in list(answer_findings.ends(section).items())[:1]:
            texts["answers"] = f"{share(value)} of {answer_findings.counted_answers(section)} {text}"
    return texts


def _change(section: Section, retriever: str) -> float | None:
    """Return the change of mean P from the first to the last k, over the queries with a P at both; None without any."""
    ordering, _, references, _ = section.lead.values()
    here = section["per_query"].filter(retriever=retriever, ordering=ordering, references=references).drop_nulls("p")
    first, last = (here.filter(k=k).select("qid", "p") for k in (section.grid.k[0], section.grid.k[-1]))
    both = first.join(last, on="qid", suffix="_last", maintain_order="left")
    return None if both.is_empty() else float(both["p_last"].to_numpy().mean() - both["p"].to_numpy().mean())


def _decided(tests: pl.DataFrame) -> bool:
    """Return whether any of ``tests`` has enough queries and an interval that gives its verdict."""
    return not tests.filter(pl.col("low").is_not_null(), pl.col("verdict") != TOO_FEW).is_empty()


def _besides(tests: pl.DataFrame) -> str:
    """Say how many of ``tests`` have no interval, if any, not counting tests with too few queries."""
    return _untested(tests.filter(pl.col("low").is_null(), pl.col("verdict") != TOO_FEW).height)


def _untested(number: int) -> str:
    return f"; {count(number)} cannot be compared" if number else ""


def _share(
    tests: pl.DataFrame, text: str, of: tuple[str, ...], less: str = "", other: tuple[str, ...] = (),
    of_what: str = "combinations of retriever and k", tested: pl.DataFrame | None = None,
) -> str:  # fmt: skip
    """Say how many cells have one of the verdicts ``of``.

    With ``less``, also say how many have one of the verdicts ``other``, and how many of the ``tested`` have neither,
    and why.
    """
    verdicts = tests["verdict"].to_list()
    more, fewer = (sum(verdict in group for verdict in verdicts) for group in (of, other))
    few = 0 if tested is None else tested.filter(verdict=TOO_FEW).height
    unknown = 0 if tested is None else tested.height - more - fewer - few
    counts = {less: fewer, "undecided": unknown, TOO_FEW: few}
    rest = [f"{word} in {count(some)}" for word, some in counts.items() if some]
    return ", ".join([f"{text} in {count(more)} of {count(tests.height)} {of_what}", *rest])
