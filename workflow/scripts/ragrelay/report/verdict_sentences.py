"""Write conclusions in sentences from the verdicts of tables: the study's answers, gains, correlations."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import polars as pl

from ragrelay.analysis import labellings, relay
from ragrelay.analysis.correlation import QUERIES_AT_LEAST as CORRELATED_AT_LEAST
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
    WORDS_AT_LEAST,
    WORSE,
)
from ragrelay.report.display.findings import (
    Conclusion,
    Warned,
    counts,
    undone,
    unlike_student,
    with_remark,
    would_undo,
)
from ragrelay.report.display.numbers import about, count, counted, listing, number, p_value, share, with_interval
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Correlation, Difference, Facts, Slope
from ragrelay.report.verdict_tables import slope_with_interval

Row = dict[str, Any]
DOES_RELAY = "Does the answer improve more on queries where the ranking improves more?"
RELAYED = {
    relay.IT_IS: "Answers improve more where rankings improve more",
    relay.IT_IS_NOT: "Answers improve less where rankings improve more",
    relay.NOT_KNOWN: "We do not know",
    relay.TOO_FEW: "We cannot tell",
}
"""The question on relay, and its answers."""
ADJUSTED = "adjusted for difficulty"
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
MOST_NAMED = 3
BY_SYSTEM = {
    MUCH_BETTER: "Answers from {one} are better than from {other}, by more than the margin of {margin}",
    BETTER: "Answers from {one} are better than from {other}",
    LITTLE_BETTER: "Answers from {one} are better than from {other}, by less than the margin of {margin}",
    EQUIVALENT: "Answers from {one} and {other} are equally good, within the margin of {margin}",
    NOT_WORSE: "Answers from {one} are at most {margin} (margin) worse than from {other}; we do not know whether "
    "they are better",
    UNDECIDED: "We do not know which of {one} and {other} gives better answers",
    TOO_FEW: "Too few queries to say which of {one} and {other} gives better answers",
}
"""Sentences on the primary pair, with the winner first; for other verdicts the pair is reversed."""
LABELLED = {
    labellings.ALL: "if all are relevant",
    labellings.LOWEST: "with the labels for the lowest slope",
    labellings.HIGHEST: "with the labels for the highest slope",
}
MOST_WORDS = 32
"""Maximum words in an answer, not counting its remark."""


def answers(facts: Facts) -> list[Conclusion]:
    """Return the study's answers on its primary pair (systems), on relay and, with P_0, on each retriever's queries."""
    return [compared(facts), relayed(facts), *([ranked_well(facts)] if facts.section.baseline else [])]


def winner_first(pair: Difference) -> tuple[Difference, str]:
    """Return a difference in the direction of its sentence, and the sentence."""
    pair = pair if pair.verdict in BY_SYSTEM else pair.turned()
    names = {"one": pair.retriever, "other": pair.against_retriever}
    return pair, BY_SYSTEM[pair.verdict].format(**names, margin=number(pair.margin, 2))


def short(value: float, low: float | None, high: float | None, margin: float = 0.0) -> str:
    """Write ``value [low, high]`` with two decimals, or more if an end would otherwise read as zero or the margin."""
    return with_interval(value, low, high, 2, margin)


def compared(facts: Facts) -> Conclusion:
    """Conclude on the primary pair from systems.csv."""
    heading, lead = ("Systems", "Does a better retriever give better answers?"), facts.section.lead
    primary = facts.section.primary
    if facts.primary is None:
        if primary is None:
            return Conclusion(*heading, "Needs two retrievers; this study has one")
        pair = [primary.retriever, primary.reference]
        return Conclusion(*heading, "We cannot tell", f"no query has a score with both {listing(pair)}")
    row, strong = winner_first(facts.primary)
    _, other = names = row.retriever, row.against_retriever
    of_pair = (facts.primary, *(facts.quality[name] for name in names if name in facts.quality))
    if row.mean_difference is None:
        return Conclusion(*heading, strong, counts(row) or row.reason or "", names, facts=of_pair)
    measured = facts.paired(row, "measured")
    if row.better and measured and measured[0] < measured[1]:
        strong += f", although {other} ranks better"
    few = [counts(row) or counted(row.n, "query", "queries")]
    why = [row.reason] if row.low is None and row.reason and not counts(row) else []
    difference = short(row.mean_difference, row.low, row.high, row.margin or 0.0)
    means = facts.paired(row, "mean_p")
    quality = [f"answer quality P {_both(means)}"] if means else []
    ranked = [f"{lead['measure']}@{lead['k']} {_both(measured)}"] if measured else []
    of_p, alone = (", ".join([f"{of} {difference}", *few, *why]) for of in ("difference", "difference in P"))
    shown = ([*ranked, *quality, of_p if quality else alone], [*ranked, alone])
    said = [Conclusion(*heading, strong, ", ".join(some), names, facts=of_pair) for some in shown]
    answer = next((one for one in said if len(one.sentence.split()) <= MOST_WORDS), said[-1])
    return answer._replace(remark=would_undo("this") if row.stands is False else unlike_student(row))


def _both(values: tuple[float, float]) -> str:
    return f"{number(values[0], 2)} against {number(values[1], 2)}"


def unjudged(facts: Facts) -> list[str]:
    """Warn if more than HOLES_ABOVE of the passages of either retriever of the primary pair have no judgement."""
    pair = facts.primary
    shares = facts.both(pair, "share_unjudged") if pair else None
    if pair is None or not shares or max(shares) <= labellings.HOLES_ABOVE:
        return []
    own, against = map(share, shares)
    return [
        f"{own} of the passages shown with {pair.retriever} and {against} with {pair.against_retriever} have no "
        f"judgement. {facts.section.lead['measure']} counts them as not relevant, and P never uses them as references."
    ]


def relay_with_holes(facts: Facts) -> list[str]:
    """Give relay's slopes under other labels for the unjudged passages, and say whether the answer changes."""
    _, k, _, measure = facts.section.lead.values()
    if not facts.labelled or any(row.slope is None for row in facts.labelled.values()):
        return []
    words = labellings.answers_by_labelling(facts.section["holes"], k)
    own = words[labellings.NONE]
    low, high, none, every = (
        number((facts.labelled[name].slope or 0.0) / 10, 3)
        for name in (labellings.LOWEST, labellings.HIGHEST, labellings.NONE, labellings.ALL)
    )
    changed = [f"{_quoted(word)} {LABELLED[name]}" for name, word in words.items() if word != own]
    follows = f"would change: {', '.join(changed)}" if changed else "stays the same under all labels tried"
    return [
        f"with other labels for the unjudged passages, P’s change per 0.1 of {measure}@{k} would range from {low} "
        f"to {high} ({none} if none are relevant, {every} if all are). The answer {_quoted(own)} {follows}."
    ]


def _quoted(word: str) -> str:
    return f"“{RELAYED[word][0].lower()}{RELAYED[word][1:]}”"


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


def ranked_well(facts: Facts) -> Conclusion:
    """Conclude whether queries with better rankings have higher utility, from rho's verdicts in one cell."""
    rankings, lead = facts.section.rankings, facts.section.lead
    heading = "Queries", "Do queries with better rankings have higher utility?"
    known = [row for row in facts.correlations if row.retriever in rankings and row.value is not None]
    if not known:
        most = max((row.n for row in facts.correlations), default=0)
        few = f"{TOO_FEW}, {count(most)} with a utility, {WORDS_AT_LEAST} needed" if most < CORRELATED_AT_LEAST else ""
        why = few or f"{lead['measure']} or utility is constant"
        return Conclusion(*heading, "We cannot tell", why if facts.correlations else "no query has a utility")
    names = tuple(row.retriever for row in known)
    said = [f"{short(row['value'], row.low, row.high)} with {row.retriever}" for row in known]
    lacking = [row for row in known if row.verdict == TOO_FEW]
    if len(lacking) == len(known):
        few = known[0].remark or "" if len({row.remark for row in known}) == 1 else "; ".join(
            f"{row.remark}, with {row.retriever}" for row in lacking[:MOST_NAMED])  # fmt: skip
        shown = f"Spearman’s ρ {', '.join(said)}" if len(known) <= MOST_NAMED else _range_of_rho(known, facts)
        return Conclusion(*heading, "We cannot tell", f"{TOO_FEW} ({few}), {shown}", names, facts=tuple(known))
    groups = {word: [row.retriever for row in known if row.verdict == word] for word in (ABOVE, BELOW, UNDECIDED)}
    groups[UNDECIDED] += [row.retriever for row in lacking]
    if len(known) > MOST_NAMED:
        sizes, all_ = {word: count(len(some)) for word, some in groups.items()}, len(rankings)
        named = f" ({listing(groups[ABOVE])})" if 0 < len(groups[ABOVE]) < MOST_NAMED else ""
        strong = "They do, with all" if len(groups[ABOVE]) == all_ else (
            f"They do with {sizes[ABOVE]} of {all_} retrievers{named}")  # fmt: skip
        strong = strong if groups[ABOVE] or groups[BELOW] else f"We do not know, for any of {all_} retrievers"
        mixed = groups[UNDECIDED] and (groups[ABOVE] or groups[BELOW])
        worse = f"with {sizes[BELOW]} they have lower utility{', ' if mixed else '; '}" if groups[BELOW] else ""
        unknown = f"with {sizes[UNDECIDED]} we do not know; " if mixed else ""
        remark = "Verdicts use Holm’s correction, and difficulty may be the cause." if groups[ABOVE] else ""
        numbers = f"{worse}{unknown}{_range_of_rho(known, facts)}"
        return Conclusion(*heading, strong, numbers, remark=remark, facts=tuple(known))
    none = [name for name in rankings if name not in names]
    rho = [*said, f"none with {listing(none)}"] if none else said
    parts = [
        f"{text} with {listing(groups[word])}"
        for word, text in ((ABOVE, "They do"), (BELOW, "They have lower utility"), (UNDECIDED, "We do not know"))
        if groups[word]
    ]
    if len(groups[UNDECIDED]) == len(known):
        parts = ["We do not know" + (", for either" if len(known) == 2 else ", for any" if len(known) > 1 else "")]
    strong = "; ".join([*parts[:1], *(part[0].lower() + part[1:] for part in parts[1:])])
    basis = f"Spearman’s ρ between {lead['measure']}@{lead['k']} and utility {', '.join(rho)}"
    numbers = f"{basis}, {_at_most([row.n for row in known])}"
    return Conclusion(*heading, strong, numbers, names, _undecided_rho(known), tuple(known))


def _range_of_rho(known: list[Correlation], facts: Facts) -> str:
    """Write the smallest and largest ρ of ``known``, and their smallest and largest number of queries."""
    rho = dict.fromkeys(number(of(row.value or 0.0 for row in known), 2) for of in (min, max))
    sizes = dict.fromkeys(count(of(row.n for row in known)) for of in (min, max))
    lacking = len(facts.section.rankings) - len(known)
    none = f", none with {counted(lacking, 'retriever')}" if lacking else ""
    of = f"{facts.section.lead['measure']}@{facts.section.lead['k']} and utility"
    return f"Spearman’s ρ between {of} {' to '.join(rho)}{none}, {' to '.join(sizes)} queries"


def _undecided_rho(known: list[Correlation]) -> str:
    """Say why retrievers have no verdict on rho: counts, Holm's correction, or p where the interval excludes 0."""
    named: dict[str, list[str]] = {}
    for row in known:
        if row.verdict in (UNDECIDED, TOO_FEW):
            excluded = row.low is not None and row.high is not None and not row.low <= 0 <= row.high
            by_test = f"p = {p_value(row.p_permutation)} by permutation" if excluded else ""
            named.setdefault(row.remark or by_test, []).append(row.retriever)
    return " ".join(f"With {listing(names)}, {why}." for why, names in named.items() if why)


def relayed(facts: Facts) -> Conclusion:
    """Conclude on relay from relay.csv, over all rankings in the primary comparison's cell."""
    _, k, _, measure = facts.section.lead.values()
    if facts.relayed == relay.ONE_RANKING:
        processed, left = facts.section.processed, len(facts.section.rankings) - len(facts.section.processed)
        if left > 1:
            return Conclusion("Relay", DOES_RELAY, "We cannot tell", "no query has scores with two different rankings")
        show = "shows another retriever’s ranking" if len(processed) == 1 else "show other retrievers’ rankings"
        why = f"{listing([*processed])} {show}, with changed texts" if processed else ""
        return Conclusion("Relay", DOES_RELAY, f"Needs two rankings; this study has {'one' if left else 'none'}", why)
    return relay_conclusion(facts.relayed, facts.deciding, f"{measure}@{k}")


def relay_conclusion(verdict: str, rows: list[Slope], measure: str) -> Conclusion:
    """Conclude on relay, with the numbers (or the reason) from the ``rows`` (as measured, adjusted) that decided."""
    heading = "Relay", DOES_RELAY, RELAYED[verdict]
    decided = relay.deciding(rows)
    numbered = [row for row in decided if row.low is not None and row.high is not None]
    if verdict == relay.TOO_FEW or not numbered:
        return Conclusion(*heading, why_no_slope(rows), facts=tuple(decided))
    said: list[str] = []
    for row in numbered:
        changes = "" if said else "P changes by "
        said.append(f"{_adjusted(row, ' ' if said else ', ')}{changes}{_per_tenth(row)}")
    sizes = list(dict.fromkeys(row.n for row in numbered))
    queries = f"{listing([count(n) for n in sizes])} queries whose contexts differ"
    turned_down = verdict == relay.NOT_KNOWN and all(row.verdict == relay.BELOW for row in rows)
    remark = f"A slope below zero counts only if p < {number(relay.REVERSED, 2)}." if turned_down else ""
    # An undecided slope with an interval has a reason only where a panel's verdict depends on a judge.
    remark = next((f"{row.reason[0].upper()}{row.reason[1:]}." for row in numbered if row.reason), remark)
    numbers = f"per 0.1 of {measure}, {', '.join(said)}, {queries}"
    return Conclusion(*heading, numbers, remark=remark, facts=tuple(numbered))


def _per_tenth(row: Slope) -> str:
    slope, low, high = row.per_tenth
    return short(slope or 0.0, low, high)


def why_no_slope(rows: list[Slope]) -> str:
    """Return why a cell has no answer on relay; with P_0 it needs both slopes, and so the adjusted slope's queries."""
    reasons: dict[str, str] = {}
    for row, reason in relay.why_no_answer(rows):
        reasons.setdefault(reason, _adjusted(row, ", ") + reason)
    few = [text for text in reasons.values() if text.endswith(relay.NEEDED.format(relay.ADJUSTED_AT_LEAST))]
    return few[-1] if few else next(filter(None, reasons.values()), "")


def _adjusted(row: Slope, then: str) -> str:
    return f"{ADJUSTED}{then}" if row.adjusted and row.reason != relay.WITHOUT_P0 else ""


def relay_left_open(facts: Facts) -> list[str]:
    """Say why relay's answer is open although the interval of the slope as measured excludes 0."""
    whole, adjusted = facts.slopes.get(""), facts.slopes.get("adjusted")
    if facts.relayed != relay.NOT_KNOWN or not whole or not whole.excludes_zero:
        return []
    measured = f"as measured, P changes by {_per_tenth(whole)} per 0.1 of {whole.measure}@{whole.k}"
    if adjusted is None or adjusted.slope is None:
        return [f"{measured}; without zero-shot answers the slope cannot be adjusted, and difficulty may be the cause."]
    return [] if adjusted.excludes_zero else [f"{measured}; adjusted for difficulty, the slope may be zero."]


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
        f"{_at_most(tested['n'].to_list())}; after Holm’s correction {count(kept[BETTER])} better and "
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
    same = f"queries (up to {count(max(sizes))})" if len(set(sizes)) > 1 else _at_most(sizes)
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


def _at_most(sizes: list[int]) -> str:
    """Write the number of queries, or the largest number if cells differ."""
    return f"{'up to ' if len(set(sizes)) > 1 else ''}{counted(max(sizes), 'query', 'queries')}"


def clustered(facts: Facts) -> list[Warned]:
    """Say how many clusters the queries form, and which results use clusters as units, with a heading."""
    return [
        Warned("Clusters", f"{counted(row.queries, 'query', 'queries')} form {counted(row.clusters, 'cluster')}; the "
                           f"largest has {share(row.share_largest)} of them. Verdicts, and intervals for systems, "
                           "gain, relay and correlations, use the cluster as the unit; other intervals are omitted or "
                           "treat queries as independent. Where a remark mentions one more query, it means one more "
                           f"cluster with {number(row.queries / row.n_eff, 1)} such queries.",
         (row,))
        for row in facts.clusters
    ]  # fmt: skip


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
