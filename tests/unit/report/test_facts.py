"""The rows behind the first screen: typed as their columns are, found in their tables, and behind every number."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest
from ragrelay.report.display.numbers import count, number, share
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Difference, Fact, facts_of
from ragrelay.report.facts_file import facts_file
from ragrelay.report.lead import lead
from ragrelay.report.outputs import RESULT_TABLES
from ragrelay.report.study import ReportedStudy

from tests.support.measured_study import Measured, section_of
from tests.unit.report.second_way import demo
from tests.unit.report.test_every_sentence import brought, few, followed, left_out, refused, with_holes

pytestmark = pytest.mark.page

TYPES = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
WRITTEN = re.compile(r"−?\d[\d,]*(?:\.\d+)?%?")
SAID = {"95%", "80%", "0.1", "0.25", "0.01", "0.05", "12", "20", "3", "5%"}
"""Numbers of the sentences themselves: levels, power, thresholds, the step of the measure."""


@pytest.mark.gate
@pytest.mark.parametrize("kind", Fact.__subclasses__(), ids=lambda kind: kind.__name__)
def test_fields_are_columns_with_their_types(kind: type[Any]) -> None:
    columns = resolve(RESULT_TABLES[kind.TABLE].columns)
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in kind.COMPUTED:
            (declared,) = (TYPES[one] for one in get_args(hints[field.name]) or [hints[field.name]] if one in TYPES)
            assert columns[field.name].dtype == declared, field.name
    assert set(kind.KEY) <= {field.name for field in fields(kind)}


@pytest.mark.gate
def test_a_difference_turned_twice_is_itself_and_its_record_is_the_table_s() -> None:
    names = [field.name for field in fields(Difference)]
    row = dict.fromkeys(names) | {"retriever": "a", "against_retriever": "b", "verdict": "better", "low": 0.1,
                                  "high": 0.3, "mean_difference": 0.2}  # fmt: skip
    one = Difference.of(row)
    turned = one.turned()
    assert (turned.retriever, turned.low, turned.high, turned.verdict) == ("b", -0.3, -0.1, "worse")
    assert turned.turned() == one == turned.as_in_table
    assert dict(one) == row


Told = tuple[Section, dict[str, Any]]


@pytest.fixture(scope="module", params=[followed, brought, few, refused, with_holes])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    measured: Measured = request.param()
    section = section_of(measured, tmp_path_factory.mktemp("facts"), resamples=60)
    study = ReportedStudy("study", section.grid, (section,), left_out=left_out(section))
    shown = lead(facts_of(section), 1, False, study.left_out)
    return section, json.loads(json.dumps(facts_file(study, {}, [shown]), allow_nan=False))


def sentences(told: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Every sentence of the first screen, with its facts."""
    (section,) = told["sections"]
    for part in (*section["answers"], *section["warnings"]):
        yield f"{part['topic']}: {part['sentence']}", part["facts"]
    for name in ("figure", "table"):
        yield section[name]["sentence"], section[name]["facts"]
        yield section[name]["remark"], section[name]["facts"]


def test_every_fact_is_a_row_of_its_table(told: Told) -> None:
    section, content = told
    seen = set()
    for _, facts in sentences(content):
        for fact in facts:
            seen.add(fact["table"])
            path = RESULT_TABLES[fact["table"]].path
            assert fact["file"] == path.format(**section.keys)
            if fact["table"] != "lengths":
                (row,) = section[fact["table"]].filter(**fact["row"]).to_dicts()
                values = {row_name(name, section): value for name, value in fact["values"].items()}
                assert {name: row[name] for name in values} == pytest.approx(values, nan_ok=True)
    assert {"systems", "relay", "utility"} <= seen


def row_name(name: str, section: Section) -> str:
    return section.lead["measure"] if name == "measured" else name


def test_every_number_is_that_of_a_fact(told: Told) -> None:
    section, content = told
    names = sorted({*section.grid.retrievers, *section.grid.orderings, *section.grades, section.scorer}, key=len)
    for sentence, facts in sentences(content):
        text = sentence
        for name in reversed(names):
            text = text.replace(name, "")
        text = text.replace(f"{section.lead['measure']}@{section.lead['k']}", "")
        known = {*SAID, *map(str, range(len(facts) + 1)), *map(str, section.grid.k)} | written(facts)
        assert [one for one in WRITTEN.findall(text) if one not in known] == [], sentence


def written(facts: list[dict[str, Any]]) -> set[str]:
    """The ways in which a sentence may write the values of ``facts``."""
    ways = set()
    for fact in facts:
        values = fact["row"] | fact["values"]
        for value in values.values():
            if isinstance(value, str):
                ways |= {*WRITTEN.findall(value)}
            elif isinstance(value, int | float) and not isinstance(value, bool):
                ways |= {number(sign * one, digits) for one in (value, value / 10) for digits in (2, 3, 4)
                         for sign in (1, -1)}  # fmt: skip
                ways |= {count(int(value)), share(value), share(value, 1)}
                ways |= {count(round(value / 3))}  # query types in a sample
        ways |= {share(values[name] / values["n"]) for name in ("length", "other", "blank", "missing")
                 if values.get(name) is not None and values.get("n")}  # fmt: skip
    return ways


def test_a_fact_of_another_row_is_found_out(told: Told) -> None:
    """What the test above would say if the rows behind a sentence were others."""
    answer = told[1]["sections"][0]["answers"][0]
    other = [{**fact, "values": {**fact["values"], **dict.fromkeys(("mean_difference", "mean_p", "measured"), 0.98765)}}
             for fact in answer["facts"]]  # fmt: skip
    shown = [one for one in WRITTEN.findall(answer["sentence"]) if "." in one]
    assert not shown or [one for one in shown if one not in written(other)]


@pytest.mark.gate
def test_sections_without_a_pair_have_facts_too(tmp_path: Path) -> None:
    make: Callable[[], Measured] = demo
    section = replace(section_of(make(), tmp_path, resamples=30), primary=None)
    study = ReportedStudy("study", section.grid, (section,))
    content = facts_file(study, {}, [lead(facts_of(section), 1, False, [])])
    assert content["sections"][0]["pair"] is None
    assert facts_of(section).pair_by_k == {}
