"""Write the warnings on a section's first screen, for example about unjudged passages or missing answers."""

from collections.abc import Mapping, Sequence

from ragrelay.analysis import labellings, relay
from ragrelay.analysis.verdicts import TOO_FEW, UNDECIDED
from ragrelay.report import answer_findings
from ragrelay.report.display.findings import Warned, undone, with_remark, would_undo
from ragrelay.report.display.numbers import count, counted, listing, number, share
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Fact, Facts
from ragrelay.report.lead_answers import MOST_NAMED, RELAYED, per_tenth, short, why_no_slope
from ragrelay.report.missing import reasons
from ragrelay.report.panel_page import panel_warning
from ragrelay.report.verdict_sentences import as_processed

REPRESENTATIVE, MANY = 36, 100
"""With fewer queries, rare query types may be missing; below MANY, the page says which difference it can detect."""
OF_ALL, WITHOUT_ZEROSHOT = (
    "all answers (all k and retrievers, zero-shot included)",
    "all answers (all k and retrievers)",
)
COPIED = 0.5
"""The page warns if at least this share of answers have their best-matching reference in the context."""
LEVEL = 0.951
"""Intervals with a higher level state the level; all others on the first screen have 95%."""
LABELLED = {
    labellings.ALL: "if all are relevant", labellings.LOWEST: "with the labels that give the lowest slope",
    labellings.HIGHEST: "with the labels that give the highest slope",
}  # fmt: skip


def warnings(facts: Facts, left_out: Sequence[Mapping[str, object]] = ()) -> list[Warned]:
    """Return all warnings for a section's first screen. ``left_out``: the records in left_out.json."""
    section, pair = facts.section, facts.primary
    of_pair = () if pair is None else (pair, *_qualities(facts, pair.retriever, pair.against_retriever))
    lines = [*_pair(section), *panel_warning(section)]
    lines += [Warned("Unjudged passages", text, of_pair) for text in unjudged(facts)]
    labelled = tuple(facts.labelled.values())
    lines += [Warned("Relay and unjudged passages", text, labelled) for text in relay_with_holes(facts)]
    lines += [Warned("Relay", text, tuple(facts.deciding)) for text in relay_left_open(facts)]
    lines += clustered(facts)
    lines += _other_retrievers(facts)
    n = 0 if pair is None else pair.n
    if pair is not None and n < MANY and pair.verdict != TOO_FEW and pair.detectable_difference is not None:
        rare = f" Query types rarer than about 1 in {count(round(n / 3))} may be missing from a sample of {n}." if (
            n < REPRESENTATIVE) else ""  # fmt: skip
        least = number(pair.detectable_difference, 2 if pair.detectable_difference >= 0.005 else 4)
        between = f"of {least} in P between {pair.retriever} and {pair.against_retriever}"
        text = f"a study with this many queries has an 80% chance of detecting a true difference {between}.{rare}"
        lines.append(Warned(counted(n, "query", "queries"), text, (pair,)))
    lines += _other_cells(facts)
    lines += copying(facts)
    needed = relay.ADJUSTED_AT_LEAST if section.baseline else relay.DIFFERING_AT_LEAST
    lines += [
        Warned(f"k = {k}", f"too few queries to assess relay; {why_no_slope(slopes)}.", tuple(slopes))
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
        Warned("Answers", f"{share(value)} of {of_all} {text}; they are scored like all other answers.", counts)
        for text, value in answer_findings.ends(section).items()
    ]


def _qualities(facts: Facts, *names: str) -> tuple[Fact, ...]:
    return tuple(facts.quality[name] for name in names if name in facts.quality)


def _pair(section: Section) -> list[Warned]:
    """With more than two rankings, say which two are the primary pair, why, and how to choose another in time."""
    pair = section.primary
    if pair is None or len(section.rankings) < 3:
        return []
    why, other = "as set in the configuration", ""
    if not section.named_pair:
        own = pair.reference == section.reference_retriever
        why = "the grid’s first retriever and the reference retriever" if own else "the grid’s first two retrievers"
        other = " To choose another pair, set analysis.primary (retriever and reference) before generating answers."
    alone = "This pair’s interval isn’t corrected for the study’s other comparisons."
    return [Warned("Primary pair", f"{pair.retriever} and {pair.reference}, {why}. {alone}{other}")]


def unjudged(facts: Facts) -> list[str]:
    """Warn about unjudged passages if their share exceeds HOLES_ABOVE for either retriever in the primary pair."""
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
    """State how relay's slope and the conclusion on relay would change if unjudged passages had other labels."""
    _, k, _, measure = facts.section.lead.values()
    if not facts.labelled or any(row.slope is None for row in facts.labelled.values()):
        return []
    words = labellings.answers_by_labelling(facts.section["holes"], k)
    own = words[labellings.NONE]
    low, high, none, every = (
        number((facts.labelled[name].slope or 0.0) / 10, 3)
        for name in (labellings.LOWEST, labellings.HIGHEST, labellings.NONE, labellings.ALL)
    )
    cases = {word: [LABELLED[name] for name in words if words[name] == word] for word in words.values() if word != own}
    others = [f"{_quoted(word)} {listing(some)}" for word, some in cases.items()]
    follows = f"would change from {_quoted(own)} to {' and to '.join(others)}" if others else (
        f"would remain {_quoted(own)} under every labelling tried")  # fmt: skip
    return [
        f"depending on the labels of the unjudged passages, the change in P per 0.1 of {measure}@{k} ranges from {low} "
        f"to {high} ({none} if none are relevant, {every} if all are). The answer {follows}."
    ]


def _quoted(word: str) -> str:
    return f"“{RELAYED[word][0].lower()}{RELAYED[word][1:]}”"


def relay_left_open(facts: Facts) -> list[str]:
    """State why relay is undecided although the interval of the unadjusted slope excludes 0."""
    whole, adjusted = facts.slopes.get(""), facts.slopes.get("adjusted")
    if facts.relayed != relay.NOT_KNOWN or not whole or not whole.excludes_zero:
        return []
    measured = f"without adjustment, P changes by {per_tenth(whole)} per 0.1 of {whole.measure}@{whole.k}"
    if adjusted is None or adjusted.slope is None:
        cause = "this slope cannot be adjusted for difficulty, which may explain it"
        return [f"{measured}; without zero-shot answers, {cause}."]
    return [] if adjusted.excludes_zero else [f"{measured}; when adjusted for difficulty, the slope may be zero."]


def clustered(facts: Facts) -> list[Warned]:
    """Warn that queries form clusters, and state which results use clusters as the units of analysis."""
    return [
        Warned("Clusters", f"{counted(row.queries, 'query', 'queries')} form {counted(row.clusters, 'cluster')}; the "
                           f"largest contains {share(row.share_largest)} of the queries. Verdicts, and the intervals "
                           "in the tables on systems, gain, relay and correlations, use clusters as units; other "
                           "intervals are omitted or treat queries as independent. In remarks, “a single further "
                           f"query” means “a further cluster of {number(row.queries / row.n_eff, 1)} such queries”.",
         (row,))
        for row in facts.clusters
    ]  # fmt: skip


def _other_retrievers(facts: Facts) -> list[Warned]:
    """Compare the other rankings with the reference retriever, if the primary pair is one of many."""
    rows = facts.other_pairs
    named = {
        "answers are better with {}": [row for row in rows if row.better],
        "answers are worse with {}": [row for row in rows if row.worse],
        "undecided for {}": [row for row in rows if not row.better and not row.worse and row.verdict != TOO_FEW],
        f"{TOO_FEW} for {{}}": [row for row in rows if row.verdict == TOO_FEW],
    }  # fmt: skip
    parts = [text.format(listing([row.retriever for row in some])) for text, some in named.items() if some]
    if facts.section.primary is None or not parts:
        return []
    decided = [row for row in [*rows] if row.better] + [row for row in rows if row.worse]
    said = with_remark(f"{'; '.join(parts)} (Bonferroni-corrected intervals).", undone(decided))
    return [Warned(f"Other retrievers compared with {facts.section.reference_retriever}", said, tuple(rows))]


def _other_cells(facts: Facts) -> list[Warned]:
    """Warn about orderings and reference grades for which the primary pair's verdict differs."""
    ordering, k, references = facts.where.values()
    here, lines = facts.pair_by_k.get(k), []
    for row in facts.pair_by_cell.values() if here else ():
        alike = (row.ordering == ordering) + (row.references == references)
        if row.k == k and alike == 1 and row.low is not None and here is not None and _side(row) != _side(here):
            text = f"{row.retriever} is better" if row.better else f"{row.against_retriever} is better"
            unknown = TOO_FEW if row.verdict == TOO_FEW else UNDECIDED
            text = text if row.better or row.worse else unknown
            wider = f" ({share(row.level, 1)} interval)" if row.level and row.level > LEVEL else ""
            numbers = f"{short(row.mean_difference or 0.0, row.low, row.high)}{wider}"
            remark = would_undo("this verdict") if (row.better or row.worse) and row.stands is False else ""
            said = with_remark(f"{text}; the difference is {numbers}.", remark)
            head = f"{row.ordering} order" if row.ordering != ordering else f"{row.references} references"
            lines.append(Warned(f"{head[0].upper()}{head[1:]}", said, (row,)))
    return lines


def _side(row: Difference) -> tuple[bool, bool]:
    return row.better, row.worse


def copying(facts: Facts) -> list[Warned]:
    most = facts.copied
    if not most or (most[0].share_best_in_context or 0.0) < COPIED:
        return []
    names, copied = listing([each.retriever for each in most]), share(most[0].share_best_in_context)
    known = [name for name in facts.section.rankings if name in facts.quality]
    known = [name for name in known if facts.quality[name].share_best_in_context is not None]
    less = [name for name in known if name not in {each.retriever for each in most}]
    others = listing(less) if len(less) <= MOST_NAMED else "the other rankings"
    most_of = f" (fewer with {others})" if less else ""
    altered = as_processed(facts.section, [each.retriever for each in most])
    text = f"with {names}, the best-matching reference is in the prompt for {copied} of the answers{altered}{most_of}"
    return [Warned("Copying", f"{text}; P may partly measure copying.", tuple(most))]
