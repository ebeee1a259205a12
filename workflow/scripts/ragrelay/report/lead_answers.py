"""Write a section's answers to the page's three questions: on systems (the primary pair), relay and queries."""

from ragrelay.analysis import relay
from ragrelay.analysis.correlation import QUERIES_AT_LEAST as CORRELATED_AT_LEAST
from ragrelay.analysis.verdicts import (
    ABOVE,
    BELOW,
    BETTER,
    EQUIVALENT,
    LITTLE_BETTER,
    MUCH_BETTER,
    NOT_WORSE,
    TOO_FEW,
    UNDECIDED,
    WORDS_AT_LEAST,
)
from ragrelay.report.display.findings import Conclusion, counts, unlike_student, would_undo
from ragrelay.report.display.numbers import count, counted, listing, number, p_compared, with_interval
from ragrelay.report.facts import Correlation, Difference, Facts, Slope

DOES_RELAY = "Does the answer improve more on queries where the ranking improves more?"
RELAYED = {
    relay.IT_IS: "Answers improve more where rankings improve more",
    relay.IT_IS_NOT: "Answers improve less where rankings improve more", relay.NOT_KNOWN: "We do not know",
    relay.TOO_FEW: "We cannot tell",
}  # fmt: skip
"""The sentence for each conclusion on relay."""
ADJUSTED = "adjusted for difficulty"
BY_SYSTEM = {
    MUCH_BETTER: "Answers are better with {one} than with {other}, by more than the margin of {margin}",
    BETTER: "Answers are better with {one} than with {other}",
    LITTLE_BETTER: "Answers are better with {one} than with {other}, by less than the margin of {margin}",
    EQUIVALENT: "Answers with {one} and {other} are equally good, within the margin of {margin}",
    NOT_WORSE: "Answers are at most {margin} (margin) worse with {one} than with {other}; we do not know whether "
    "they’re better",
    UNDECIDED: "We do not know whether {one} or {other} gives better answers",
    TOO_FEW: "Too few queries to say whether {one} or {other} gives better answers",
}
"""Sentences about the primary pair, with the winner first; for other verdicts, the pair is reversed."""
MOST_NAMED = 3
MOST_WORDS = 34
"""Maximum words in an answer, not counting its remark."""


def answers(facts: Facts) -> list[Conclusion]:
    """Return the answers on systems (the primary pair), relay and, if there are zero-shot answers, queries."""
    return [compared(facts), relayed(facts), *([ranked_well(facts)] if facts.section.baseline else [])]


def compared(facts: Facts) -> Conclusion:
    """State which retriever of the primary pair gives better answers."""
    heading, lead = ("Systems", "Does a better retriever give better answers?"), facts.section.lead
    primary = facts.section.primary
    if facts.primary is None:
        if primary is None:
            return Conclusion(*heading, "This question needs two retrievers, but the study has only one")
        pair = [primary.retriever, primary.reference]
        return Conclusion(*heading, "We cannot tell", f"no query has scores for both {listing(pair)}")
    row, strong = winner_first(facts.primary)
    _, other = names = row.retriever, row.against_retriever
    of_pair = (facts.primary, *(facts.quality[name] for name in names if name in facts.quality))
    if row.mean_difference is None:
        return Conclusion(*heading, strong, counts(row) or row.reason or "", names, facts=of_pair)
    measured, means = facts.paired(row, "measured"), facts.paired(row, "mean_p")
    ranked = [f"{lead['measure']}@{lead['k']} is {_both(measured)}"] if measured else []
    if row.better and measured and measured[0] < measured[1]:
        strong += f", although {other} ranks better"
        own, better = (number(value, 2) for value in measured)
        ranked, means = [f"{lead['measure']}@{lead['k']} is {better} ({names[0]}: {own})"], None
    few = [counts(row) or counted(row.n, "query", "queries")]
    why = [row.reason] if row.low is None and row.reason and not counts(row) else []
    difference = short(row.mean_difference, row.low, row.high, row.margin or 0.0)
    behind = "; ".join([*few, *why])
    quality = [f"answer quality P is {_both(means)} (difference {difference}, {behind})"] if means else []
    alone = "; ".join([*ranked, f"P differs by {difference} ({behind})"])
    shown = (", and ".join([*ranked, *quality]), alone) if quality else (alone,)
    said = [Conclusion(*heading, strong, some, names, facts=of_pair) for some in shown]
    answer = next((one for one in said if len(one.sentence.split()) <= MOST_WORDS), said[-1])
    return answer._replace(remark=would_undo("this verdict") if row.stands is False else unlike_student(row))


def winner_first(pair: Difference) -> tuple[Difference, str]:
    """Return the difference with the better retriever (if any) first, and a sentence that states the verdict."""
    pair = pair if pair.verdict in BY_SYSTEM else pair.turned()
    names = {"one": pair.retriever, "other": pair.against_retriever}
    return pair, BY_SYSTEM[pair.verdict].format(**names, margin=number(pair.margin, 2))


def short(value: float, low: float | None, high: float | None, margin: float = 0.0) -> str:
    """Format ``value [low, high]`` with two decimals, or more if an end would round to zero or to the margin."""
    return with_interval(value, low, high, 2, margin)


def _both(values: tuple[float, float]) -> str:
    return f"{number(values[0], 2)} against {number(values[1], 2)}"


def ranked_well(facts: Facts) -> Conclusion:
    """State whether queries with better rankings have higher utility, based on each retriever's Spearman's ρ."""
    rankings, lead = facts.section.rankings, facts.section.lead
    heading = "Queries", "Do queries with better rankings have higher utility?"
    known = [row for row in facts.correlations if row.retriever in rankings and row.value is not None]
    if not known:
        most = max((row.n for row in facts.correlations), default=0)
        with_utility = counted(most, "query has", "queries have")
        few = f"only {with_utility} a utility, but {WORDS_AT_LEAST} are needed" if most < CORRELATED_AT_LEAST else ""
        why = few or f"{lead['measure']} or utility is constant"
        return Conclusion(*heading, "We cannot tell", why if facts.correlations else "no query has a utility")
    names = tuple(row.retriever for row in known)
    said = [f"{short(row['value'], row.low, row.high)} with {row.retriever}" for row in known]
    lacking = [row for row in known if row.verdict == TOO_FEW]
    if len(lacking) == len(known):
        few = counts(known[0]) if len({row.remark for row in known}) == 1 else "; ".join(
            f"with {row.retriever}, {counts(row)}" for row in lacking[:MOST_NAMED])  # fmt: skip
        shown = f"Spearman’s ρ is {listing(said)}" if len(known) <= MOST_NAMED else _range_of_rho(known, facts)
        return Conclusion(*heading, "We cannot tell", f"{TOO_FEW} ({few}); {shown}", names, facts=tuple(known))
    groups = {word: [row.retriever for row in known if row.verdict == word] for word in (ABOVE, BELOW, UNDECIDED)}
    groups[UNDECIDED] += [row.retriever for row in lacking]
    if len(known) > MOST_NAMED:
        sizes, all_ = {word: count(len(some)) for word, some in groups.items()}, len(rankings)
        named = f" ({listing(groups[ABOVE])})" if 0 < len(groups[ABOVE]) < MOST_NAMED else ""
        strong = "They do with all retrievers" if len(groups[ABOVE]) == all_ else (
            f"They do with {sizes[ABOVE] if groups[ABOVE] else 'none'} of {all_} retrievers{named}")  # fmt: skip
        strong = strong if groups[ABOVE] or groups[BELOW] else f"We do not know for any of the {all_} retrievers"
        mixed = groups[UNDECIDED] and (groups[ABOVE] or groups[BELOW])
        worse = f"utility is lower with {sizes[BELOW]}; " if groups[BELOW] else ""
        unknown = f"we do not know for {sizes[UNDECIDED]}; " if mixed else ""
        remark = "Verdicts use Holm’s correction; query difficulty may explain them." if groups[ABOVE] else ""
        numbers = f"{worse}{unknown}{_range_of_rho(known, facts)}"
        return Conclusion(*heading, strong, numbers, remark=remark, facts=tuple(known))
    none = [name for name in rankings if name not in names]
    rho = [*said, f"undefined with {listing(none)}"] if none else said
    parts = [
        f"{text} {'for' if word == UNDECIDED else 'with'} {listing(groups[word])}"
        for word, text in ((ABOVE, "They do"), (BELOW, "They have lower utility"), (UNDECIDED, "We do not know"))
        if groups[word]
    ]
    if len(groups[UNDECIDED]) == len(known):
        parts = [
            "We do not know"
            + (" for either retriever" if len(known) == 2 else " for any retriever" if len(known) > 1 else "")
        ]
    strong = "; ".join([*parts[:1], *(part[0].lower() + part[1:] for part in parts[1:])])
    basis = f"Spearman’s ρ between {lead['measure']}@{lead['k']} and utility is {listing(rho)}"
    numbers = f"{basis} ({at_most([row.n for row in known])})"
    return Conclusion(*heading, strong, numbers, names, _undecided_rho(known), tuple(known))


def _range_of_rho(known: list[Correlation], facts: Facts) -> str:
    """Write the smallest and largest ρ of ``known``, and their smallest and largest number of queries."""
    rho = dict.fromkeys(number(of(row.value or 0.0 for row in known), 2) for of in (min, max))
    sizes = dict.fromkeys(count(of(row.n for row in known)) for of in (min, max))
    lacking = len(facts.section.rankings) - len(known)
    none = f", undefined with {counted(lacking, 'retriever')}" if lacking else ""
    of = f"{facts.section.lead['measure']}@{facts.section.lead['k']} and utility"
    is_ = "ranges from" if len(rho) > 1 else "is"
    return f"Spearman’s ρ between {of} {is_} {' to '.join(rho)}{none} ({' to '.join(sizes)} queries)"


def _undecided_rho(known: list[Correlation]) -> str:
    """Say why rho is undecided for retrievers: counts, Holm's correction, p or a missing interval."""
    named: dict[str, list[str]] = {}
    for row in known:
        if row.verdict in (UNDECIDED, TOO_FEW):
            excluded = row.low is not None and row.high is not None and not row.low <= 0 <= row.high
            none = f"there is no interval ({row.reason})" if row.low is None and row.reason else ""
            by_test = f"p {p_compared(row.p_permutation)} in a permutation test" if excluded else none
            named.setdefault(row.remark or by_test, []).append(row.retriever)
    return " ".join(f"With {listing(names)}, {why}." for why, names in named.items() if why)


def at_most(sizes: list[int]) -> str:
    """Format a number of queries, such as `25 queries`, or `up to 25 queries` if ``sizes`` differ."""
    return f"{'up to ' if len(set(sizes)) > 1 else ''}{counted(max(sizes), 'query', 'queries')}"


def relayed(facts: Facts) -> Conclusion:
    """State the conclusion on relay over all rankings, or why there is no conclusion."""
    _, k, _, measure = facts.section.lead.values()
    if facts.relayed == relay.ONE_RANKING:
        processed, left = facts.section.processed, len(facts.section.rankings) - len(facts.section.processed)
        if left > 1:
            return Conclusion("Relay", DOES_RELAY, "We cannot tell", "no query has scores for two different rankings")
        show = "uses another retriever’s ranking" if len(processed) == 1 else "use other retrievers’ rankings"
        why = f"{listing([*processed])} {show} with changed texts" if processed else ""
        return Conclusion(
            "Relay",
            DOES_RELAY,
            f"This question needs two rankings, but the study has {'only one' if left else 'none'}",
            why,
        )
    return relay_conclusion(facts.relayed, facts.deciding, f"{measure}@{k}")


def relay_conclusion(verdict: str, rows: list[Slope], measure: str) -> Conclusion:
    """State the conclusion on relay with the slopes in ``rows`` (unadjusted, adjusted), or why slopes are missing."""
    heading = "Relay", DOES_RELAY, RELAYED[verdict]
    decided = relay.deciding(rows)
    numbered = [row for row in decided if row.low is not None and row.high is not None]
    if verdict == relay.TOO_FEW or not numbered:
        return Conclusion(*heading, why_no_slope(rows), facts=tuple(decided))
    said: list[str] = []
    for row in numbered:
        adjusted = f"when {ADJUSTED}" if row.adjusted and row.reason != relay.WITHOUT_P0 else ""
        changes = f"P changes by {per_tenth(row)} per 0.1 of {measure}"
        first = f"{adjusted}, {changes}" if adjusted else changes
        said.append(f"{per_tenth(row)} {adjusted}".rstrip() if said else first)
    sizes = list(dict.fromkeys(row.n for row in numbered))
    queries = f"{listing([count(n) for n in sizes])} queries whose contexts differ"
    turned_down = verdict == relay.NOT_KNOWN and all(row.verdict == relay.BELOW for row in rows)
    remark = f"A slope below zero is reported only if p < {number(relay.REVERSED, 2)}." if turned_down else ""
    # An undecided slope with an interval has a reason only where a panel's verdict depends on a judge.
    remark = next((f"{row.reason[0].upper()}{row.reason[1:]}." for row in numbered if row.reason), remark)
    numbers = f"{said[0]} ({'; '.join([*said[1:], queries])})"
    return Conclusion(*heading, numbers, remark=remark, facts=tuple(numbered))


def per_tenth(row: Slope) -> str:
    slope, low, high = row.per_tenth
    return short(slope or 0.0, low, high)


def why_no_slope(rows: list[Slope]) -> str:
    """Return why there is no conclusion on relay, such as too few queries for the unadjusted or the adjusted slope."""
    reasons: dict[str, str] = {}
    for row, reason in relay.why_no_answer(rows):
        of_adjusted = reason and row.adjusted and row.reason != relay.WITHOUT_P0
        reasons.setdefault(reason, f"the slope {ADJUSTED} cannot be tested ({reason})" if of_adjusted else reason)
    end = relay.NEEDED.format(relay.ADJUSTED_AT_LEAST)
    few = [text for text in reasons.values() if text.removesuffix(")").endswith(end)]
    return few[-1] if few else next(filter(None, reasons.values()), "")
