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
from ragrelay.annexes.interventions.effects import FIRST_LAST
from ragrelay.annexes.interventions.intervention import INTERVENTION_KINDS, Intervention
from ragrelay.annexes.interventions.page_tables import PER
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.report.display.findings import Conclusion, undone, with_remark
from ragrelay.report.display.numbers import count, counted, with_interval
from ragrelay.report.display.tables import Row

WORDS = {
    EQUIVALENT: "no difference beyond the margin",
    NOT_WORSE: "no worse by more than the margin",
    NOT_BETTER: "no better by more than the margin",
    TOO_FEW: "too few queries to say",
}
DOES_NOT_KNOW = "we do not know"


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
    if row["verdict"] in SAY_BETTER:
        strong = f"One relevant passage {_of(kind)} makes the answer better {where}"
    elif row["verdict"] in SAY_WORSE:
        strong = f"One relevant passage {_of(kind)} makes the answer worse {where}"
    elif row["verdict"] == EQUIVALENT:
        strong = f"One relevant passage {_of(kind)} makes no difference beyond the margin {where}"
    else:
        strong = f"We do not know what one relevant passage {_of(kind)} does {where}"
    return Conclusion(*heading, strong, names=names)


def effect_sentences(study: EffectStudy) -> list[str]:
    """Say the effect of each intervention and retriever by k, its population, places, and slopes beside relay."""
    sentences = []
    shown = study.effects.filter(references=study.references)
    for (name, retriever), rows in shown.partition_by(
        "intervention", "retriever", as_dict=True, maintain_order=True
    ).items():
        of_k = rows.filter(part="overall").to_dicts()
        kind = INTERVENTION_KINDS[of_k[0]["kind"]]
        said = "; ".join(_effect(row) for row in of_k)
        sentences.append(
            with_remark(
                f"{name} on {retriever}, {of_k[0]['ordering']} order, {study.references} references. P changes "
                f"{kind.effect} by {said}.",
                undone([row | {"at": f"k = {row['k']}"} for row in of_k], "at"),
            )
        )
        sentences += [_population(kind, row) for row in of_k]
        if slopes := [_slopes(row) for row in of_k if row["slope"] is not None]:
            measure = of_k[0]["measure"]
            sentences.append(
                f"Per {PER} of {measure}, of {name} on {retriever} by cause, and of relay over all rankings of the "
                f"study, a correlation: {'; '.join(slopes)}."
            )
        if places := [_places(row) for row in rows.filter(part=FIRST_LAST).iter_rows(named=True)]:
            sentences.append(f"Effect at the first place less that at the last: {'; '.join(places)}.")
    return sentences


def _first(study: EffectStudy) -> Sequence[Row]:
    rows = study.overall.filter(references=study.references).to_dicts()
    return [row for row in rows if all(row[key] == rows[0][key] for key in ("intervention", "retriever"))]


def _of(kind: type[Intervention]) -> str:
    return "instead of a non-relevant one" if kind.needs_pairs else "more than a non-relevant one"


def _word(row: Row) -> str:
    if row["reason"]:
        return str(row["reason"])
    verdict = row["verdict"]
    return WORDS.get(verdict, str(verdict) if verdict in (*SAY_BETTER, *SAY_WORSE) else DOES_NOT_KNOW)


def _effect(row: Row) -> str:
    shown = with_interval(row["effect"], row["low"], row["high"])
    return f"at k = {row['k']} {shown} ({_word(row)}; {counted(row['n'], 'query', 'queries')})"


def _population(kind: type[Intervention], row: Row) -> str:
    rest = row["n_queries"] - row["n"]
    others = f"; the other {count(rest)} say nothing here" if rest else ""
    return (
        f"At k = {row['k']}: over the {count(row['n'])} of {counted(row['n_queries'], 'query', 'queries')} "
        f"{kind.population.format(k=row['k'])}{others}. The mean is over queries."
    )


def _slopes(row: Row) -> str:
    def per(of: str) -> str:
        ends = (row[of], row[f"{of}_low"], row[f"{of}_high"])
        return with_interval(*(None if end is None else end * PER for end in ends))

    relay = per("relay") if row["relay"] is not None else "no relay"
    return f"at k = {row['k']} {per('slope')}, beside {relay}"


def _places(row: Row) -> str:
    shown = with_interval(row["effect"], row["low"], row["high"])
    return f"at k = {row['k']} {shown} ({_word(row)}, {counted(row['n'], 'query', 'queries')})"
