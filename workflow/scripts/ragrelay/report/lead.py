"""Make the first screen of a section: its answers, a figure, a table, and warnings about how to read them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import DECIDES
from ragrelay.analysis.labellings import HOLES_ABOVE
from ragrelay.analysis.systems import PRIMARY, REFERENCE
from ragrelay.analysis.verdicts import ABOVE, BELOW, SAY_BETTER, SAY_WORSE, TOO_FEW
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report import answer_findings, verdict_sentences
from ragrelay.report.display.findings import undone, unlike_student, with_remark, would_undo
from ragrelay.report.display.numbers import MISSING, count, counted, listing, number, share
from ragrelay.report.display.sections import Section
from ragrelay.report.lead_figure import (
    Mean,
    coloured,
    lead_figure,
    means,
    primary_differences,
    signed,
    verdict_in_short,
    zero_shot,
)
from ragrelay.report.missing import reasons
from ragrelay.report.verdict_sentences import short

Row = dict[str, Any]
Warning = tuple[str, str]
MOST_ROWS = 10
REPRESENTATIVE, MANY = 36, 100
"""With fewer queries, rare kinds may be missing; with fewer than MANY, the page says which differences it can find."""
UNDONE = "*"
"""Marks a verdict of the table that does not stand."""
OF_ALL, WITHOUT_ZEROSHOT = "all answers (every k and retriever, zero-shot too)", "all answers (every k and retriever)"
COPIED = 0.5
"""The page warns if at least this share of answers had its nearest reference in the context."""


def lead(section: Section, part: int, explored: bool, left_out: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the values for the template ``lead.html.j2``.

    ``part``: the section's index in the explorer; ``left_out``: records of left_out.json.
    """
    figure, rows = lead_figure(section, part, explored), primary_differences(section)
    return {
        "answers": verdict_sentences.answers(section),
        "scope": scope(section),
        "looks": section.looks,
        "figure": figure,
        "figure_title": figure_title(section, rows),
        "figure_remark": figure_remark(rows),
        "pair": section.primary,
        "table": table(section, rows),
        "warnings": warnings(section, left_out),
    }


def facts(sections: Sequence[Section]) -> str:
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
    where = f"k = {count(k)} unless said otherwise, {ordering} order, {references} references{left}"
    return f"{where}. Brackets: 95% intervals."


def figure_title(section: Section, rows: dict[int, Row]) -> str:
    """Say at which k the primary pair's difference is decided."""
    pair = section.primary
    parts = []
    for words, text in ((SAY_BETTER, "{one} is ahead"), (SAY_WORSE, "{other} is ahead")):
        ks = [count(k) for k, row in sorted(rows.items()) if row["verdict"] in words]
        if pair and ks:
            parts.append(f"{text.format(one=pair.retriever, other=pair.reference)} at k = {listing(ks)}")
    if not parts:
        return "Quality of the answers, P, against passages in the context, k"
    open_at = [count(k) for k, row in sorted(rows.items()) if row["verdict"] not in (*SAY_BETTER, *SAY_WORSE)]
    return "; ".join(parts + ([f"at k = {listing(open_at)} we do not know"] if open_at else []))


def figure_remark(rows: dict[int, Row]) -> str:
    """Say at which k the difference that figure_title tells of does not stand; empty if it stands."""
    decided = [(k, row) for k, row in sorted(rows.items()) if row["verdict"] in (*SAY_BETTER, *SAY_WORSE)]
    ks = [count(k) for k, row in decided if row["stands"] is False]
    return would_undo(f"the verdict at k = {listing(ks)}") if ks else ""


def table(section: Section, rows: dict[int, Row]) -> dict[str, Any]:
    """Show retrievers at the answers' k, best first: verdict, measure, P, and gain or, without P_0, difference.

    If the share of passages without a judgement is above HOLES_ABOVE for any retriever, it is next to the measure.
    """
    ordering, k, references, measure = section.lead.values()
    where = {"ordering": ordering, "k": k, "references": references}
    lines, baseline, no_baseline = means(section), zero_shot(section), not section.baseline
    cells = {row["retriever"]: row for row in section["utility"].filter(**where).to_dicts()}
    gains = {row["retriever"]: row for row in section["gain"].filter(**where).to_dicts()}
    pair = section.primary
    against = pair.reference if pair else None
    if no_baseline:
        pairs = [direction for row in section["systems"].filter(**where).to_dicts()
                 for direction in (row, verdict_sentences.turned(row))]  # fmt: skip
        gains = {row["retriever"]: row for row in pairs if row["against_retriever"] == against}
    shown = coloured(section, lines)
    by_p = []
    for name in sorted(cells, key=lambda name: -(cells[name]["mean_p"] or 0.0)):
        gain, cell = gains.get(name, {}), cells[name]
        kind = "ranking" if name in section.rankings else "designed"
        by_p.append(_row(name, kind, gain, number(cell.get(measure), 2), number(cell["mean_p"], 2))
                    | {"coloured": name in shown, "unjudged": share(cell.get("share_unjudged"))})  # fmt: skip
    rankings = [row for row in by_p if row["kind"] == "ranking"]
    designed = [row for row in by_p if row["kind"] == "designed"]
    between = [row for row in [rows.get(k)] if row is not None and not no_baseline]
    chosen = [row if row["verdict"] not in SAY_WORSE else verdict_sentences.turned(row) for row in between]
    for row in chosen:
        name, other = row["retriever"], row["against_retriever"]
        measured = verdict_sentences.means_of(section, row, measure)
        apart = signed(number(measured[0] - measured[1], 2)) if measured else ""
        for ranking in rankings:
            ranking["wins"] = ranking["name"] == name and row["verdict"] in SAY_BETTER and len(section.rankings) == 2
        against_other = _row(f"{name} − {other}", "pair", row, apart, signed(number(row["mean_difference"], 2)))
        rankings.append(against_other)
    if baseline:
        zero = {"verdict": "baseline", "n": baseline.n}
        rankings.append(_row("zero-shot", "zero", zero, "", number(baseline.value, 2)))
    for row in by_p if no_baseline else ():
        row["n"] = next((mean.n for mean in lines.get(row["name"], []) if mean.k == k), 0)
    paired = [row["n"] for row in (gains.values() if no_baseline else chosen) if row["n"]]
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
    tested = section["gain"].filter(pl.col("retriever").is_in([row["name"] for row in ranked]), **where)
    title = f"{subject} {beats} zero-shot at k = {count(k)}{_besides(tested)}" if decided else (
        f"Retrievers at k = {count(k)}")  # fmt: skip
    fallen = [would_undo(f"a verdict with {UNDONE}")] if any(
        row["verdict"].endswith(UNDONE) for row in [*rankings, *designed]) else []  # fmt: skip
    unlike = [unlike_student(gains[name], name) for name in cells if name in gains]
    other = "" if no_baseline else _other_queries(lines, cells, gains, k)
    return {"rows": rankings, "designed": designed, "measure": f"{measure}@{k}", "title": title,
            "unjudged": any((cell.get("share_unjudged") or 0) > HOLES_ABOVE for cell in cells.values()),
            "remark": " ".join(filter(None, [*fallen, *unlike, other, sizes])),
            "last": f"P − {against}’s" if no_baseline else "gain over zero-shot", "compared": bool(gains),
            "more": sum(bool(row.get("more")) for row in ranked), "all": len(rankings) + len(designed)}  # fmt: skip


def _other_queries(
    lines: Mapping[str, Sequence[Mean]], cells: Mapping[str, Row], gains: Mapping[str, Row], k: int
) -> str:
    """Say over which queries the table's P is, if the figure has another P for the same retriever and k."""
    drawn = {name: number(mean.value, 2) for name, line in lines.items() for mean in line if mean.k == k}
    other = [name for name, p in drawn.items() if name in gains and p != number(cells[name]["mean_p"], 2)]
    counts = listing([f"{count(gains[name]['n'])} with {name}" for name in other])
    return f"P is over the queries that also have P₀ ({counts}), in the figure over all with P." if other else ""


def _sizes(rows: Sequence[Row], paired: Sequence[int], measure: str) -> str:
    """Add ``queries`` to the table's ``rows`` and explain their numbers of queries, if these differ.

    ``paired``: the queries of each difference between retrievers; ``measure``: empty without zero-shot answers.
    """
    if len({*paired, *(row["n"] for row in rows if row["n"] is not None)}) < 2:
        return ""
    for row in rows:
        row["queries"] = counted(row["n"], "query", "queries") if row["n"] is not None else ""
    least = f"{count(min(paired))} to " if len({*paired}) > 1 else ""
    said = [f"A difference between retrievers is over the {least}{counted(max(paired), 'query', 'queries')} that both "
            "have"] if paired else []  # fmt: skip
    said += ["a gain is over a row’s queries", f"{measure} is over all with P or P₀"] if measure else []
    return f"{said[0][0].upper()}{'; '.join(said)[1:]}." if said else ""


def _row(name: str, kind: str, tested: Row, measured: str, p: str) -> Row:
    word = tested.get("verdict") or ""
    mean = tested.get("mean_difference")
    gain, _, between = short(mean, tested["low"], tested["high"]).partition(" ") if mean is not None else ("", "", "")
    arrow = "↑ " if word in SAY_BETTER else "↓ " if word in SAY_WORSE else ""
    mark = UNDONE if tested.get("stands") is False else ""
    return {"name": name, "kind": kind, "word": word, "verdict": arrow + verdict_in_short(tested) + mark,
            "measure": "" if measured == MISSING else measured, "p": p, "interval": between,
            "wins": False, "more": False, "coloured": False, "unjudged": "", "n": tested.get("n"), "queries": "",
            "gain": signed(gain) if gain else ""}  # fmt: skip


def warnings(section: Section, left_out: Sequence[Mapping[str, Any]] = ()) -> list[Warning]:
    """Return warnings that affect how to read the answers, a line each. ``left_out``: records of left_out.json."""
    lines = _pair(section)
    lines += [("Unjudged passages", sentence) for sentence in verdict_sentences.unjudged(section)]
    lines += [("Relay and unjudged passages", sentence) for sentence in verdict_sentences.relay_with_holes(section)]
    lines += [("Relay", sentence) for sentence in verdict_sentences.relay_left_open(section)]
    lines += verdict_sentences.clustered(section)
    lines += _other_retrievers(section)
    ordering, k, references, measure = section.lead.values()
    primary = section["systems"].filter(role=PRIMARY).to_dicts()
    n = max((row["n"] for row in primary), default=0)
    for row in primary:
        if n < MANY and row["detectable_difference"] is not None:
            rare = f" Kinds of queries of which there are fewer than 3 in {n} may not be among them." if (
                n < REPRESENTATIVE) else ""  # fmt: skip
            least = number(row["detectable_difference"], 2 if row["detectable_difference"] >= 0.005 else 4)
            pair = f"between {row['retriever']} and {row['against_retriever']}"
            text = f"80% of such studies would find a true difference in P {pair} of {least}.{rare}"
            lines.append((counted(n, "query", "queries"), text))
    lines += _other_orderings(section)
    lines += _copying(section)
    apart = section["relay"].filter(
        retrievers=relay.ALL_RANKINGS, ordering=ordering, references=references, measure=measure
    ).drop_nulls("k")  # fmt: skip
    needed = relay.ADJUSTED_AT_LEAST if section.baseline else relay.DIFFERING_AT_LEAST
    lines += [
        (f"k = {other}", f"too few queries to tell of relay: {verdict_sentences.why_no_slope(rows.to_dicts())}.")
        for (other,), rows in apart.group_by("k", maintain_order=True)
        if other != k and relay.answer_of(rows) == relay.TOO_FEW and min(rows["n"]) < min(n, needed)
    ]
    of_all = OF_ALL if section.baseline else WITHOUT_ZEROSHOT
    if lost := answer_findings.missing(section):
        why = reasons(left_out, section.dataset, section.generator)
        lines.append(("Answers", f"{lost} of {of_all} are missing{why}; they {answer_findings.NO_SCORE}."))
    return lines + [
        ("Answers", f"{share(value)} of {of_all} {text}; they are scored like the others.")
        for text, value in answer_findings.ends(section).items()
    ]


def _pair(section: Section) -> list[Warning]:
    """Say which of more than two rankings are the primary pair, why, and how to name another in time."""
    pair = section.primary
    if pair is None or len(section.rankings) < 3:
        return []
    why, other = "which the configuration names", ""
    if not section.named_pair:
        own = pair.reference == section.reference_retriever
        why = "the first retriever of the grid and the reference retriever" if own else "the first two of the grid"
        other = " Another can be named before there are answers: analysis.primary, with retriever and reference."
    alone = "Its interval is not corrected for other pairs."
    return [("Primary pair", f"{pair.retriever} and {pair.reference}, {why}. {alone}{other}")]


def _other_retrievers(section: Section) -> list[Warning]:
    """Compare the other rankings with the reference retriever, if the primary pair is one of many."""
    ordering, k, references, _ = section.lead.values()
    rows = section["systems"].filter(
        pl.col("retriever").is_in(section.rankings), pl.col("against_retriever").is_in(section.rankings),
        role=REFERENCE, ordering=ordering, k=k, references=references,
    ).sort("mean_difference", descending=True, nulls_last=True)  # fmt: skip
    texts = {"answers are better with {}": SAY_BETTER, "answers are worse with {}": SAY_WORSE}
    named = {text: rows.filter(pl.col("verdict").is_in(list(words))) for text, words in texts.items()}
    named["with {} we do not know"] = rows.filter(~pl.col("verdict").is_in([*SAY_BETTER, *SAY_WORSE]))
    parts = [text.format(listing(group["retriever"].to_list())) for text, group in named.items() if group.height]
    if section.primary is None or not parts:
        return []
    decided = [row for words in texts.values() for row in rows.filter(pl.col("verdict").is_in(words)).to_dicts()]
    return [
        (
            f"Other retrievers against {section.reference_retriever}",
            with_remark(f"{'; '.join(parts)} (intervals by Bonferroni’s method).", undone(decided)),
        )
    ]


def _other_orderings(section: Section) -> list[Warning]:
    """Warn of orderings in which the primary pair's conclusion differs."""
    lead = section.lead
    here = primary_differences(section).get(lead["k"])
    if here is None or section.primary is None:
        return []
    rows = section["systems"].filter(pl.col("ordering") != lead["ordering"], k=lead["k"], references=lead["references"])
    pair, lines = section.primary, []
    for test in rows.to_dicts():
        row = test if test["retriever"] == pair.retriever else verdict_sentences.turned(test)
        same = (row["retriever"], row["against_retriever"]) == (pair.retriever, pair.reference)
        sides = [next((side for side, words in ((1, SAY_BETTER), (-1, SAY_WORSE)) if it["verdict"] in words), 0)
                 for it in (here, row)]  # fmt: skip
        if same and row["low"] is not None and sides[0] != sides[1]:
            text = {
                0: "which is better is not known",
                1: f"{pair.retriever} is better",
                -1: f"{pair.reference} is better",
            }
            numbers = short(row["mean_difference"], row["low"], row["high"])
            remark = would_undo("this") if sides[1] and row["stands"] is False else ""
            said = with_remark(f"{text[sides[1]]}: difference {numbers}.", remark)
            lines.append((f"{row['ordering'].capitalize()} order", said))
    return lines


def _copying(section: Section) -> list[Warning]:
    lead = section.lead
    where = {name: lead[name] for name in ("ordering", "k", "references")}
    cells = section["utility"].filter(
        pl.col("retriever").is_in(section.rankings), pl.col("retriever") != ZEROSHOT, **where
    )
    known = section.ordered(cells.drop_nulls("share_best_in_context"))
    most = known.filter(pl.col("share_best_in_context").round(9) == pl.col("share_best_in_context").round(9).max())
    if most.is_empty() or most["share_best_in_context"][0] < COPIED:
        return []
    names, copied = listing(most["retriever"].to_list()), share(most["share_best_in_context"][0])
    most_of = " (fewer with the others)" if most.height < known.height else ""
    text = f"with {names}, {copied} of the answers had the reference nearest to them in their context{most_of}"
    return [("Copying", f"{text}; P rewards copying it.")]


COUNTING = ("gain", "systems", "relayed")
"""Parts whose headings count verdicts."""


def counted_where(section: Section) -> str:
    """Say which rows the headings of the parts COUNTING count."""
    ordering, _, references, _ = section.lead.values()
    oracles = ", without oracles" if len(section.rankings) < len(section.grid.retrievers) else ""
    return f"The title counts {ordering} order and {references} references at every k{oracles}; the tables have all."


def headings(section: Section) -> dict[str, str]:
    """Return headings that state the finding of a part, for the section's parts that have one."""
    ordering, _, references, measure = section.lead.values()
    rankings, where = pl.col("retriever").is_in(section.rankings), {"ordering": ordering, "references": references}
    gains = section["gain"].filter(rankings, pl.col("n") > 0, **where)
    rho = section["correlation"].filter(rankings, coefficient=DECIDES, subset="all", measure=measure, **where)
    ranked = rho.drop_nulls("value")
    others = pl.col("against_retriever").is_in(section.rankings)
    pairs = section["systems"].filter(rankings, others, **where)
    lines, texts = means(section), {}
    if gains.height and not _decided(gains):
        texts["gain"] = verdict_sentences.not_compared(gains)
    elif gains.height:
        tested = gains["low"].count()
        text = _share(gains, "Passages make the answer better", SAY_BETTER, "worse", SAY_WORSE, tested=tested)
        texts["gain"] = text + _besides(gains)
    if _decided(pairs):
        either = (*SAY_BETTER, *SAY_WORSE)
        text = _share(pairs, "It is known which of two retrievers gives better answers", either, of_what="comparisons")
        texts["systems"] = text + _besides(pairs)
    if not section["relay"].is_empty():
        said = verdict_sentences.relayed(section).strong
        texts["relay"] = f"Relay at k = {section.lead['k']}: {said[0].lower()}{said[1:]}"
    if ranked.height:
        text = "Queries with better rankings have higher utility"
        lacking = rho.height - ranked.height
        without = f"; {count(lacking)} {'has' if lacking == 1 else 'have'} no ρ" if lacking else ""
        texts["relayed"] = _share(rho, text, (ABOVE,), "lower", (BELOW,), tested=ranked.height) + without
    ends = (section.grid.k[0], section.grid.k[-1])
    shown = [name for name in coloured(section, lines) if (lines[name][0].k, lines[name][-1].k) == ends]
    changes = {name: _change(section, name) for name in lines if name in shown and len(section.grid.k) > 1}
    moved = [f"{signed(number(value, 2))} with {name}" for name, value in changes.items() if value is not None]
    if moved:
        from_to = f"From k = {section.grid.k[0]} to {section.grid.k[-1]}"
        texts["table"] = f"{from_to}, P changes by {listing(moved)} (not tested)"
    copied = _copying(section)
    if copied:
        texts["copying"] = f"At k = {section.lead['k']}, {copied[0][1].partition(';')[0]}"
    if lost := answer_findings.missing(section):
        texts["answers"] = f"{lost} of all answers are missing"
    else:
        for text, value in list(answer_findings.ends(section).items())[:1]:
            texts["answers"] = f"{share(value)} of all answers {text}"
    return texts


def _change(section: Section, retriever: str) -> float | None:
    """Return the change of mean P from the first to the last k, over the queries with a P at both; None without any."""
    ordering, _, references, _ = section.lead.values()
    here = section["per_query"].filter(retriever=retriever, ordering=ordering, references=references).drop_nulls("p")
    first, last = (here.filter(k=k).select("qid", "p") for k in (section.grid.k[0], section.grid.k[-1]))
    both = first.join(last, on="qid", suffix="_last", maintain_order="left")
    return None if both.is_empty() else float(both["p_last"].to_numpy().mean() - both["p"].to_numpy().mean())


def _decided(tests: pl.DataFrame) -> bool:
    """Return whether any of ``tests``, of enough queries, has an interval from which its verdict is read."""
    return not tests.filter(pl.col("low").is_not_null(), pl.col("verdict") != TOO_FEW).is_empty()


def _besides(tests: pl.DataFrame) -> str:
    """Say how many of ``tests`` have no interval, if any."""
    untested = tests["low"].null_count()
    return f"; {count(untested)} cannot be compared" if untested else ""


def _share(
    tests: pl.DataFrame, text: str, of: tuple[str, ...], less: str = "", other: tuple[str, ...] = (),
    of_what: str = "combinations of retriever and k", tested: int | None = None,
) -> str:  # fmt: skip
    """Say in how many cells the verdict is one ``of`` those.

    With ``less``, also in how many it is one of the ``other``, and of how many ``tested`` ones (default all) neither.
    """
    verdicts = tests["verdict"].to_list()
    more, fewer = (sum(verdict in group for verdict in verdicts) for group in (of, other))
    unknown = (tests.height if tested is None else tested) - more - fewer if less else 0
    rest = [f"{word} in {count(some)}" for word, some in ((less, fewer), ("not known", unknown)) if some]
    return ", ".join([f"{text} in {count(more)} of {count(tests.height)} {of_what}", *rest])
