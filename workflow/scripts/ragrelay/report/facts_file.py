"""Write the sentences on a page's first screen as JSON, with the table rows from which each sentence is derived.

For the format, see docs/reference/facts.md. VERSION changes if a key is renamed or removed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragrelay.report.display.findings import Conclusion
from ragrelay.report.facts import Fact, Facts, Mean, TableRow, facts_of
from ragrelay.report.over_all import OverAll
from ragrelay.report.study import ReportedStudy

VERSION = 1
Record = dict[str, object]


def facts_file(
    study: ReportedStudy, annexes: Mapping[str, Any], leads: Sequence[Mapping[str, Any]], rows: Sequence[OverAll] = ()
) -> Record:
    """Return the content of facts.json.

    Args:
        study: The study, with its sections in the page's order.
        annexes: A mapping with ``mixed`` (a warning about mixed engines), ``annex_openings``, ``annex_warnings`` and
            ``annex_answers`` (pairs of an annex's name and the variables of the annex's template).
        leads: Each section's first screen.
        rows: Answers pooled over several generators or datasets.

    Returns:
        A record with the keys ``version``, ``study``, ``notes``, ``over_all`` (pooled), ``sections`` and ``annexes``.
    """
    notes = {
        "notice": [*study.notices, *study.doubts],
        "missing": study.missing,
        "opening": annexes.get("annex_openings", []),
        "warning": [*annexes.get("annex_warnings", []), *filter(None, [annexes.get("mixed")])],
    }
    return {
        "version": VERSION, "study": study.name,
        "notes": [{"kind": kind, "sentence": said} for kind, some in notes.items() for said in dict.fromkeys(some)],
        "over_all": [
        {"dataset": row.dataset, "where": row.where, "answers": [_answer(answer, {}) for answer in row.answers]}
        for row in rows ],
        "sections": [_section(facts_of(section), shown) for section, shown in zip(study.sections, leads, strict=True)],
        "annexes": [record for name, value in annexes.get("annex_answers", []) for record in _of_annex(name, value)],
    }  # fmt: skip


def _section(facts: Facts, shown: Mapping[str, Any]) -> Record:
    section, names = facts.section, facts.section.keys
    pair, table = section.primary, shown["table"]
    rows = [*facts.quality.values(), *facts.gains.values(), *facts.against_reference.values()]
    return {
        **names,
        "cell": section.lead,
        "pair": None if pair is None else {"retriever": pair.retriever, "against_retriever": pair.reference},
        "scope": shown["scope"],
        "answers": [_answer(answer, names) for answer in shown["answers"]],
        "figure": {
            "sentence": shown["figure_title"],
            "remark": shown["figure_remark"],
            "facts": _records(facts.pair_by_k.values(), names),
            "means": [_mean(name, mean) for name, line in facts.means.items() for mean in line]
            + [_mean("zeroshot", mean) for mean in [facts.zero_shot] if mean],
        },
        "table": {"sentence": table["title"], "remark": table["remark"], "facts": _records(rows, names)},
        "warnings": [
            {"topic": head, "sentence": text, "facts": _records(some, names)} for head, text, some in shown["warnings"]
        ],
    }


def _answer(answer: Conclusion, names: Mapping[str, str]) -> Record:
    return {
        "topic": answer.topic,
        "question": answer.question,
        "sentence": answer.sentence,
        "verdict": answer.strong,
        "facts": _records(answer.facts, names),
    }


def _of_annex(name: str, value: object) -> list[Record]:
    """Return the answers in a variable of an annex's template, which holds one unit, such as a dataset, or several."""
    units = value if isinstance(value, list) else [value]
    return [
        {"annex": name, "where": unit.get("where", unit.get("scorer", "")), **_answer(unit["answer"], {})}
        for unit in units
        if isinstance(unit, Mapping) and isinstance(unit.get("answer"), Conclusion)
    ]


def _records(facts: Iterable[Fact | TableRow], names: Mapping[str, str]) -> list[Record]:
    """Return the distinct rows of ``facts`` as they are in their tables."""
    records: list[Record] = []
    for fact in facts:
        record = fact.record(names)
        if record not in records:
            records.append(record)
    return records


def _mean(retriever: str, mean: Mean) -> Record:
    return {"retriever": retriever, **vars(mean)}
