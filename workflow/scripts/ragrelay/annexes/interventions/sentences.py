"""Write the page's sentences about the effect of one relevant passage, by k and position, and about slopes."""

from collections.abc import Sequence

import polars as pl

from ragrelay.analysis.standing import AGAINST
from ragrelay.analysis.verdicts import (
    EQUIVALENT,
    NOT_BETTER,
    NOT_WORSE,
    SAY_BETTER,
    SAY_WORSE,
    TOO_FEW,
    UNDECIDED,
)
from ragrelay.annexes.interventions.effects import FIRST_LAST, OVERALL
from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS, Intervention, OfOwnPassages
from ragrelay.annexes.interventions.outputs import RESULT_TABLES
from ragrelay.annexes.interventions.page_tables import PER
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.findings import Conclusion, undone, unlike_student, with_remark, would_undo
from ragrelay.report.display.numbers import count, counted, listing, number, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

WORDS = {
    EQUIVALENT: "no difference beyond the margin",
    NOT_WORSE: "either better, or worse by less than the margin",
    NOT_BETTER: "either worse, or better by less than the margin",
    TOO_FEW: "too few queries for a verdict",
}
OF_PLACES = {
    word: WORDS.get(word, word).replace("better", "larger").replace("worse", "smaller")
    for word in (*SAY_BETTER, *SAY_WORSE, NOT_WORSE, NOT_BETTER)
}
"""The wording of verdicts on the difference between two effects."""
BY_CAUSE = "the causal effect"
BY_PASSAGES = "the difference in effect between relevant and non-relevant passages (which may differ in other ways)"
SWAPPED = (
    ("Replacing a non-relevant passage with a relevant one makes the answer better", "better"),
    ("Replacing a non-relevant passage with a relevant one makes the answer worse", "worse"),
    ("Replacing a non-relevant passage with a relevant one makes no difference beyond the margin", "no difference"),
    ("We do not know whether replacing a non-relevant passage with a relevant one makes the answer better", UNDECIDED),
    ("Too few queries to tell what replacing a non-relevant passage with a relevant one does", TOO_FEW),
)
OWN = (
    ("A relevant passage helps the answer more than a non-relevant one at the same position", "more"),
    ("A relevant passage helps the answer less than a non-relevant one at the same position", "less"),
    ("A relevant passage helps the answer as much as a non-relevant one at the same position, within the margin",
     "as much"),
    ("We do not know whether a relevant passage helps the answer more than a non-relevant one at the same position",
     UNDECIDED),
    ("Too few queries to tell whether a relevant passage helps the answer more than a non-relevant one at the same "
     "position", TOO_FEW),
)  # fmt: skip
"""The page's conclusions about an inserted passage, then about a passage of the context: better, worse, no difference,
undecided, too few queries. Each has a sentence, and a short form for further values of k."""


def effect_answer(study: EffectStudy) -> Conclusion:
    """State for every k how one relevant passage affects answers, using the first intervention and retriever."""
    heading = "One passage", "What does one relevant passage do?"
    rows = _first(study)
    if not rows:
        return Conclusion(*heading, "No context could be changed")
    kind: type[Intervention] = INTERVENTION_KINDS[rows[0]["kind"]]
    retriever = rows[0]["retriever"]
    (said, _, where), *others = [
        (said, word, f"at k = {listing(ks)}")
        for place, (said, word) in enumerate(SWAPPED if kind.needs_pairs else OWN)
        if (ks := [count(row["k"]) for row in rows if _place(row["verdict"]) == place])
    ]
    rest = "".join(f"; {word} {place}" for _, word, place in others)
    scope = f"{where} with {retriever}" if kind.needs_pairs else f"({where.removeprefix('at ')}, {retriever})"
    key = ("intervention", "retriever", "ordering", "k", "references", "part", "place")
    facts = tuple(TableRow(RESULT_TABLES[0], study.keys, row, key) for row in rows)
    return Conclusion(*heading, f"{said} {scope}{rest}", names=(retriever,), facts=facts)


def _place(verdict: str) -> int:
    """Return the index of a verdict's sentence in SWAPPED and OWN."""
    return {**dict.fromkeys(SAY_BETTER, 0), **dict.fromkeys(SAY_WORSE, 1), EQUIVALENT: 2, TOO_FEW: 4}.get(verdict, 3)


def effect_sentences(study: EffectStudy) -> list[str]:
    """Write sentences about effects by retriever and k, about effects by position, and about slopes."""
    sentences, references = list[str](), study.references or ""
    shown = study.effects.filter(references=references)
    for (name, retriever), rows in shown.partition_by(
        "intervention", "retriever", as_dict=True, maintain_order=True
    ).items():
        of_k = rows.filter(part=OVERALL).to_dicts()
        where = f"Intervention “{name}” on {retriever} ({of_k[0]['ordering']} order, {references} references)"
        sentences += [_effect(where, row) for row in of_k]
        here = {"intervention": name, "retriever": retriever, "references": references + UNSEEN}
        unseen = "with answers scored only against references that appear in none of the contexts compared at the same"
        others = "k (because answers may copy the other references): the effect is"
        sentences += _by_k(f"{where}, {unseen} {others}", study.overall.filter(**here))
        of_ends = rows.filter(part=FIRST_LAST).with_columns(pl.col("verdict").replace(OF_PLACES))
        sentences += _by_k(f"{where}: the effect at the first position, minus the effect at the last, is", of_ends)
        if slopes := [_slopes(row) for row in of_k if row["slope"] is not None]:
            by = BY_CAUSE if INTERVENTION_KINDS[of_k[0]["kind"]].needs_pairs else BY_PASSAGES
            said = f"{where}: per {PER} of {of_k[0]['measure']}, {by} is {listing(slopes)}."
            if any(row["relay"] is not None for row in of_k):
                said += " Relay’s slope is correlational, estimated from all rankings and not adjusted for difficulty."
            fallen = [count(row["k"]) for row in of_k if row["slope_stands"] is False]
            intervals, its = ("intervals", "their") if len(fallen) > 1 else ("interval", "its")
            remark = (
                f"One more query with an effect {number(AGAINST, 2)} above or below the mean would move the {intervals}"
                f" at k = {listing(fallen)} by more than half {its} width."
            )
            sentences.append(with_remark(said, remark if fallen else ""))
    return [*sentences, *_without_effect(study)]


def _without_effect(study: EffectStudy) -> list[str]:
    """Name each k at which an intervention has no effect estimate because no query has answers to compare."""
    known = {*study.overall.select("intervention", "retriever", "k").iter_rows()}
    kinds = {name: INTERVENTION_KINDS[one["kind"]] for name, one in study.asked.items()}
    return [
        f"Intervention “{name}” on {retriever}, k = {k}: nothing to compare, because {_why(kinds[name], k)}."
        for name, one in study.asked.items()
        for retriever in one["retrievers"]
        for k in one["k"]
        if (name, retriever, k) not in known
    ]


def _why(kind: type[Intervention], k: int) -> str:
    if k == 1 and issubclass(kind, OfOwnPassages):
        return "a context with one passage can’t contain both a relevant and a non-relevant passage"
    return f"there are no answers to queries {kind.population.format(k=k)}"


def _first(study: EffectStudy) -> Sequence[Row]:
    rows = [] if study.references is None else study.overall.filter(references=study.references).to_dicts()
    return [row for row in rows if all(row[key] == rows[0][key] for key in ("intervention", "retriever"))]


def _word(row: Row) -> str:
    verdict = row["verdict"]
    if verdict == TOO_FEW and row["n"]:
        return f"{WORDS[verdict]}: {row['remark']}"
    if row["reason"]:
        return str(row["reason"])
    return WORDS.get(verdict, verdict or UNDECIDED)


def _effect(where: str, row: Row) -> str:
    kind, k, rest = INTERVENTION_KINDS[row["kind"]], row["k"], row["n_queries"] - row["n"]
    of, queries = "the mean over" if kind.needs_pairs else "based on", counted(row["n_queries"], "query", "queries")
    which = f"{count(row['n'])} of the {queries}, those" if rest else f"all {queries}"
    said = (
        f"{where}, k = {k}: {kind.effect.format(effect=_value(row))} ({_word(row)}). This is {of} {which} "
        f"{kind.population.format(k=k)}."
    )
    return with_remark(said, would_undo("this verdict") if row["stands"] is False else unlike_student(row))


def _value(row: Row) -> str:
    return with_interval(row["effect"], row["low"], row["high"])


def _slopes(row: Row) -> str:
    def per(of: str) -> str:
        value, low, high = (None if row[name] is None else row[name] * PER for name in (of, f"{of}_low", f"{of}_high"))
        return with_interval(value, low, high)

    beside, few = "no slope available for relay", ", because there are"
    if row["relay"] is not None:
        beside, few = f"relay’s slope: {per('relay')}", ", from"
    beside += f"{few} {TOO_FEW}: {row['relay_reason']}" if row["relay_reason"] else ""
    unbounded = "" if row["slope_low"] is not None or row["low"] is None else "interval unbounded; "
    return f"{per('slope')} at k = {row['k']} ({unbounded}{beside})"


def _by_k(said: str, frame: pl.DataFrame) -> list[str]:
    """Report the effect at each k, and name verdicts that one more query would overturn; empty without rows."""
    rows = [{**row, "at": f"k = {row['k']}"} for row in frame.iter_rows(named=True)]
    effects = [f"{_value(row)} at {row['at']} ({_with_queries(row)})" for row in rows]
    return [with_remark(f"{said} {listing(effects)}.", undone(rows, "at"))] if rows else []


def _with_queries(row: Row) -> str:
    word, queries = _word(row), counted(row["n"], "query", "queries")
    return word if queries in word else f"{word}; {queries}"
