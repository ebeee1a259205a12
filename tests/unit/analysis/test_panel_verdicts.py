"""A panel's verdicts are at most what every mean without one judge says."""

import itertools
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.panel_verdicts import CLAIMS, KEYS, SIGNS, bounded, read_parts, shared_verdict, without_parts
from ragrelay.analysis.verdicts import (
    ABOVE,
    BELOW,
    BETTER,
    EQUIVALENT,
    LITTLE_BETTER,
    LITTLE_WORSE,
    MUCH_BETTER,
    NOT_WORSE,
    OF_DIFFERENCE,
    TOO_FEW,
    UNDECIDED,
    WORSE,
    of_interval,
)
from ragrelay.report.display.outputs import resolve
from ragrelay.report.outputs import RESULT_TABLES


@pytest.mark.parametrize(
    ("verdicts", "shared"),
    [
        ((MUCH_BETTER, BETTER), BETTER),
        ((MUCH_BETTER, LITTLE_BETTER), BETTER),
        ((LITTLE_BETTER, EQUIVALENT), EQUIVALENT),
        ((BETTER, EQUIVALENT), NOT_WORSE),
        ((LITTLE_BETTER, LITTLE_WORSE), EQUIVALENT),
        ((BETTER, WORSE), UNDECIDED),
        ((BETTER, TOO_FEW), UNDECIDED),
        ((ABOVE, ABOVE, ABOVE), ABOVE),
        ((ABOVE, UNDECIDED), UNDECIDED),
        ((ABOVE, BELOW), UNDECIDED),
    ],
)
def test_the_shared_verdict_is_the_strongest_that_all_support(verdicts: tuple[str, ...], shared: str) -> None:
    assert {shared_verdict(*order) for order in itertools.permutations(verdicts)} == {shared}


def test_two_verdicts_of_intervals_share_the_verdict_of_their_hull() -> None:
    """A second way: read every verdict off an interval, with a margin of 1."""
    ends = [-3.0, -2.0, -0.6, -0.5, 0.5, 0.6, 2.0, 3.0]
    read = {pair: of_interval(*pair, margin=1.0) for pair in itertools.combinations(ends, 2)}
    assert {*read.values()} == {*OF_DIFFERENCE} - {TOO_FEW} == {*CLAIMS}
    for (low, high), (other_low, other_high) in itertools.product(read, repeat=2):
        hull = min(low, other_low), max(high, other_high)
        assert shared_verdict(read[low, high], read[other_low, other_high]) == of_interval(*hull, margin=1.0)
    assert {shared_verdict(*pair) for pair in itertools.product(SIGNS, repeat=2)} == {*SIGNS}


def systems(*verdicts: str, stands: bool | None = True) -> pl.DataFrame:
    rows = [
        {"retriever": "dense", "against_retriever": "bm25", "k": k, "mean_difference": 0.1, "low": 0.05, "high": 0.2,
         "verdict": verdict, "stands": stands, "remark": None}
        for k, verdict in enumerate(verdicts, 1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"stands": pl.Boolean, "remark": pl.String})


def test_a_panel_says_nothing_that_fails_without_one_judge() -> None:
    """Rows are joined by their keys, not by their place, and estimates stay."""
    panel = systems(BETTER, BETTER, MUCH_BETTER, TOO_FEW, UNDECIDED)
    parts = {
        "a": systems(BETTER, BETTER, BETTER, TOO_FEW, BETTER),
        "b": systems(BETTER, UNDECIDED, MUCH_BETTER, TOO_FEW, BETTER).reverse(),
        "c": systems(BETTER, TOO_FEW, MUCH_BETTER, TOO_FEW, BETTER, stands=False),
    }
    made = bounded(panel, parts)
    assert made["verdict"].to_list() == [BETTER, UNDECIDED, BETTER, TOO_FEW, UNDECIDED]
    assert made["remark"].to_list() == [
        None,
        "it depends on a judge: the result is “better” with all judges, but not without b or c",
        "it depends on a judge: the result is “better by more than the margin” with all judges, but not without a",
        None,
        None,
    ]
    assert made["stands"].to_list() == [False, None, False, True, True], "undecided rows keep what they have"
    same = ["retriever", "k", "mean_difference", "low", "high"]
    assert made.select(same).equals(panel.select(same)) and made.schema == panel.schema
    assert bounded(panel, {}) is panel


def test_a_row_that_a_part_lacks_bounds_it_and_one_twice_is_an_error() -> None:
    panel = systems(BETTER, BETTER)
    made = bounded(panel, {"a": systems(BETTER)})
    assert made["verdict"].to_list() == [BETTER, UNDECIDED]
    with pytest.raises(pl.exceptions.ComputeError):
        bounded(panel, {"a": pl.concat([panel, panel])})


def slopes(p_value: float, verdict: str = BELOW) -> pl.DataFrame:
    rows = [
        {"retrievers": relay.ALL_RANKINGS, "adjusted": adjusted, "p_value": p_value, "verdict": verdict, "reason": None}
        for adjusted in (False, True)
    ]
    return pl.DataFrame(rows, schema_overrides={"reason": pl.String})


def test_the_answer_on_relay_is_bounded_too() -> None:
    """A slope below zero is believed below p = .01 only, so a part's at .03 does not support the panel's at .001."""
    assert relay.answer_of(slopes(0.001)) == relay.IT_IS_NOT
    assert relay.answer_of(bounded(slopes(0.001), {"a": slopes(0.002)})) == relay.IT_IS_NOT
    made = bounded(slopes(0.001), {"a": slopes(0.03), "b": slopes(0.002)})
    assert relay.answer_of(slopes(0.03)) == relay.answer_of(made) == relay.NOT_KNOWN
    said = "it depends on a judge: the result is “below zero” with all judges, but not without a"
    assert set(made["reason"]) == {said}
    assert relay.answer_of(bounded(slopes(0.03, ABOVE), {"a": slopes(0.03, ABOVE)})) == relay.IT_IS


def test_every_table_with_verdicts_has_keys_and_a_place_for_the_remark() -> None:
    """All tables of the analysis and the pooled one, by their declarations."""
    made = [one for one in RESULT_TABLES.values() if one.rule in ("analyse_transmission", "pool_samples")]
    declared = {one.name: {**resolve(one.columns)} for one in made}
    with_verdict = {name: columns for name, columns in declared.items() if "verdict" in columns}
    assert set(with_verdict) == {"correlation", "gain", "within", "relay", "holes", "systems", "equivalence", "pooled"}
    for name, columns in with_verdict.items():
        assert {"remark", "reason"} & {*columns}, name
        assert len({*KEYS} & {*columns}) >= 4, name
    modules = [import_module(one.columns.partition(":")[0]) for one in made]
    assert all(hasattr(module, "COLUMNS") for module in modules)


def test_parts_are_read_with_the_types_of_the_panel(tmp_path: Path) -> None:
    path = tmp_path / "relay.csv"
    slopes(0.001).with_columns(k=pl.lit(None, pl.Int64)).write_csv(path)
    panel = slopes(0.001).with_columns(k=pl.lit(None, pl.Int64))
    parts = read_parts({"panel@without-a": path}, panel)
    assert parts["a"].schema == panel.schema
    assert bounded(panel, parts)["verdict"].to_list() == [BELOW, BELOW]


def test_pooled_rows_of_parts_bound_the_panel_and_leave() -> None:
    def of(scorer: str, verdict: str) -> pl.DataFrame:
        return systems(verdict).select(pl.lit(scorer).alias("scorer"), "*")

    table = pl.concat([of("panel", BETTER), of("minilm", BETTER), of("panel@without-a", BETTER),
                       of("panel@without-b", UNDECIDED)])  # fmt: skip
    made = without_parts(table)
    assert dict(made.select("scorer", "verdict").iter_rows()) == {"panel": UNDECIDED, "minilm": BETTER}
    several = pl.concat([of("minilm", BETTER), of("rouge", BETTER), of("minilm", UNDECIDED)])
    assert without_parts(several).equals(several), "in the order of the rows"
    assert without_parts(several.clear()).equals(several.clear())
