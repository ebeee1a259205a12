"""Say what one relevant passage does to the answers, over which queries, and beside relay."""

from collections.abc import Sequence

from ragrelay.analysis.verdicts import (
    EQUIVALENT,
    NOT_BETTER,
    NOT_WORSE,
    SAY_BETTER,
    SAY_WORSE,
    TOO_FEW,
)
from ragrelay.annexes.interventions.effects import FIRST_LAST, OVERALL
from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS, Intervention
from ragrelay.annexes.interventions.page_tables import PER
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.report.display.findings import Conclusion, with_remark, would_undo
from ragrelay.report.display.numbers import count, counted, with_interval
from ragrelay.report.display.tables import Row

WORDS = {
    EQUIVALENT: "no difference beyond the margin",
    NOT_WORSE: "not worse by more than the margin",
    NOT_BETTER: "not better by more than the margin",
    TOO_FEW: "too few queries to say",
}
DOES_NOT_KNOW = "we do not know"
BY_CAUSE = "by cause"
BY_PASSAGES = "of the context's own passages, which may differ in more than relevance"
SWAPPED = (
    "One relevant passage instead of a non-relevant one makes the answer better",
    "One relevant passage instead of a non-relevant one makes the answer worse",
    "One relevant passage instead of a non-relevant one makes no difference beyond the margin",
    "We do not know what one relevant passage instead of a non-relevant one does",
)
OWN = (
    "A relevant passage does more for the answer than a non-relevant one at the same place",
    "A relevant passage does less for the answer than a non-relevant one at the same place",
    "A relevant passage does as much for the answer, within the margin, as a non-relevant one at the same place",
    "We do not know whether a relevant passage does more for the answer than a non-relevant one at the same place",
)
"""What the answer says of a passage that is put in, and of one of the context's own: better, worse, no difference, not
known."""


def effect_answer(study: EffectStudy) -> Conclusion:
    """Conclude from the first intervention and retriever at its largest k, over places."""
    heading = "One passage", "What does one relevant passage do?"
    rows = _first(study)
    if not rows:
        return Conclusion(*heading, "No context could be changed")
    row = rows[-1]
    kind: type[Intervention] = INTERVENTION_KINDS[row["kind"]]
    where = f"in contexts of {row['k']} by {row['retriever']}"
    names = (row["retriever"],)
    better, worse, equivalent, unknown = SWAPPED if kind.needs_pairs else OWN
    if row["verdict"] in SAY_BETTER:
        said = better
    elif row["verdict"] in SAY_WORSE:
        said = worse
    else:
        said = equivalent if row["verdict"] == EQUIVALENT else unknown
    return Conclusion(*heading, f"{said} {where}", names=names)


def effect_sentences(study: EffectStudy) -> list[str]:
    """Say the effect of each intervention and retriever by k with its population, then places and slopes."""
    if study.references is None:
        return []
    sentences = []
    shown = study.effects.filter(references=study.references)
    for (name, retriever), rows in shown.partition_by(
        "intervention", "retriever", as_dict=True, maintain_order=True
    ).items():
        of_k = rows.filter(part=OVERALL).to_dicts()
        where = f"{name} on {retriever} ({of_k[0]['ordering']} order, {study.references} references)"
        sentences += [_effect(where, row) for row in of_k]
        here = {"intervention": name, "retriever": retriever, "references": study.references + UNSEEN}
        if unseen := [_places(row) for row in study.overall.filter(**here).iter_rows(named=True)]:
            sentences.append(
                f"{where}, on the references that none of its contexts at that k shows, since an answer may copy the "
                f"others: {'; '.join(unseen)}."
            )
        if places := [_places(row) for row in rows.filter(part=FIRST_LAST).iter_rows(named=True)]:
            sentences.append(f"{where}, effect at the first place less that at the last: {'; '.join(places)}.")
        if slopes := [_slopes(row) for row in of_k if row["slope"] is not None]:
            by = BY_CAUSE if INTERVENTION_KINDS[of_k[0]["kind"]].needs_pairs else BY_PASSAGES
            sentences.append(
                f"{where}, per {PER} of {of_k[0]['measure']}: {by}, and beside it the slope of relay, which is a "
                f"correlation over all rankings of the study: {'; '.join(slopes)}."
            )
    return sentences


def _first(study: EffectStudy) -> Sequence[Row]:
    rows = [] if study.references is None else study.overall.filter(references=study.references).to_dicts()
    return [row for row in rows if all(row[key] == rows[0][key] for key in ("intervention", "retriever"))]


def _word(row: Row) -> str:
    if row["reason"]:
        return str(row["reason"])
    verdict = row["verdict"]
    return WORDS.get(verdict, str(verdict) if verdict in (*SAY_BETTER, *SAY_WORSE) else DOES_NOT_KNOW)


def _effect(where: str, row: Row) -> str:
    kind, k, rest = INTERVENTION_KINDS[row["kind"]], row["k"], row["n_queries"] - row["n"]
    others = f"; the other {count(rest)} say nothing here" if rest else ""
    of = "The mean" if kind.needs_pairs else "This"
    said = (
        f"{where}, k = {k}: {kind.effect.format(effect=_value(row))} ({_word(row)}). {of} is over the "
        f"{count(row['n'])} of {counted(row['n_queries'], 'query', 'queries')} {kind.population.format(k=k)}{others}."
    )
    return with_remark(said, would_undo("this verdict") if row["stands"] is False else "")


def _value(row: Row) -> str:
    return with_interval(row["effect"], row["low"], row["high"])


def _slopes(row: Row) -> str:
    def per(of: str) -> str:
        value, low, high = (None if row[name] is None else row[name] * PER for name in (of, f"{of}_low", f"{of}_high"))
        return with_interval(value, low, high)

    beside = per("relay") if row["relay"] is not None else "no relay"
    unbounded = "" if row["slope_low"] is not None or row["low"] is None else " (interval unbounded)"
    return f"at k = {row['k']} {per('slope')}{unbounded} beside {beside}"


def _places(row: Row) -> str:
    return f"at k = {row['k']} {_value(row)} ({_word(row)}; {counted(row['n'], 'query', 'queries')})"
