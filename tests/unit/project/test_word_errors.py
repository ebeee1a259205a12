"""The record of the words' error rates: no gate is broken, the page shows it, and the words keep it now."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.base.io.workflow_files import ROOT

from benchmarks import panel_errors
from benchmarks.shared import model_columns, relay_cells
from benchmarks.word_errors import (
    FOUND_AT,
    RELAY_SIZES,
    RELAYED,
    REMARK_SIZES,
    SIZES,
    SLOPES,
    false_words,
    holds,
    main,
    model_records,
    nulls,
    part_of,
    read,
    records,
    refusals,
    relay_records,
    relayed,
    remark_records,
    write,
)
from tools import error_rates

RATES = read(ROOT / "benchmarks/results/word_errors.json")
OF_WORDS, OF_REMARKS, OF_RELAY = (
    [one for one in RATES if part_of(one) == part] for part in ("words", "remarks", "relay")
)


def test_the_page_has_the_record() -> None:
    text = error_rates.PAGE.read_text(encoding="utf-8")
    assert error_rates.page(text) == text and "| *answers improve more* |" in text
    assert error_rates.page(text.replace("| 3.6 |", "| 3.7 |", 1)) == text


def test_few_queries_give_rho_no_verdict() -> None:
    assert "| measure with two values; utility has unequal spread | verdict |" in error_rates.PAGE.read_text("utf-8")
    figures = json.loads((ROOT / "benchmarks/results/rho_errors.json").read_text(encoding="utf-8"))["figures"]
    gated = {name: one["value"] for name, one in figures.items() if "goal" in one}
    assert len(gated) == 5 * 8 and max(gated.values()) <= 0.06
    assert all(value == 0 for name, value in gated.items() if " 6 queries" in name or " 10 queries" in name)
    assert figures["above, below zero: two values, spread unequal, 12 queries, test and interval"]["value"] > 0.06


def test_a_biased_judge_gives_a_panel_no_verdict() -> None:
    """The panel's rates, of which those without an effect have a goal; the mean alone is false in most studies."""
    assert "| no difference, but the best judge favours b by .20 | *better* |" in error_rates.PAGE.read_text("utf-8")
    figures = json.loads((ROOT / "benchmarks/results/panel_errors.json").read_text(encoding="utf-8"))["figures"]
    bounded = {name: one["value"] for name, one in figures.items() if "goal" in one}
    assert len(bounded) == 6 * 3 and max(bounded.values()) <= 0.035
    biased = [one["value"] for name, one in figures.items() if "by .20, 100" in name and name.endswith("mean")]
    assert len(biased) == 3 and min(biased) > 0.8
    rates = panel_errors.found_systems(36, 60, *panel_errors.WORLDS["no difference, the worst judge favours b by .20"])
    assert rates["panel"] <= 0.1 < 0.3 < rates["mean"], "by the package of now"


def test_single_rows_of_relay_have_their_gate() -> None:
    """An adjusted row has no word below 20 queries, and its words are false as seldom as those as measured."""
    rows = [one for one in RATES if part_of(one) == "slopes"]
    assert {(one["word"], one["data"], one["n"]) for one in rows} == {
        (word, kind, n) for word in SLOPES for kind in relay_cells.nulls() for n in RELAY_SIZES
    }
    assert {one["gate"] for one in rows} == {"<= 0.06"} and all(map(holds, rows))
    assert {one["share"] for one in rows if one["word"] == SLOPES[1] and one["n"] == 12} == {0.0}


def test_no_gate_of_the_record_is_broken_and_limits_are_in_it() -> None:
    gated = [one for one in OF_WORDS if one["gate"]]
    assert {one["n"] for one in gated} == set(SIZES) and len({one["data"] for one in gated}) == 6
    assert all(map(holds, RATES))
    assert any(one["share"] > 0.06 for one in OF_WORDS if not one["gate"])


def test_a_language_models_columns_are_drawn_from_beside_the_others() -> None:
    """They are numbers of queries and cells; every word has its rate on them, with the gate of the others."""
    rows = model_columns.packed()
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    assert texts == ["retriever", "references", "qid"] and rows["qid"].str.contains("^[0-9]+$").all()
    of_model = [one for one in RATES if part_of(one) == "model"]
    words = {one["word"] for one in OF_WORDS}
    gated = {(one["word"], one["data"], one["n"]) for one in of_model if one["gate"] == "<= 0.05"}
    for kind in ("language model", "language model, the most skewed fifth"):
        assert {(word, kind, n) for word in words for n in (*SIZES, 43)} <= gated
    of_relay = {one["data"]: one["gate"] for one in of_model if one["word"] == RELAYED}
    assert of_relay == {f"P of another query: language model, k = {k}": "<= 0.035" for k in (1, 3, 5)}
    drawn = next(model_records(50, 5, (12,)))
    assert drawn["data"] == "language model" and drawn["share"] < 0.3


def test_figures_of_a_language_models_answers() -> None:
    """Relay is what the study's own table says, and variances add up to that of single answers."""
    by_k = {row["k"]: row for row in model_columns.figures()}
    slope, low, high = by_k[1]["relay"]
    assert 0 < low < slope < high and by_k[3]["relay"][1] < 0
    runs = model_columns.packed().filter(~pl.col("retriever").is_in(model_columns.ORACLES), references="lenient")
    for k, row in by_k.items():
        single = np.concatenate([runs.filter(k=k)[name].to_numpy() for name in ("seed1", "seed2")])
        parts = sum(row[name] for name in ("query", "retriever", "query x retriever", "seed"))
        assert parts == pytest.approx(single.var(ddof=1), rel=0.05)


def test_relay_has_its_gates() -> None:
    permuted = [one for one in OF_RELAY if one["data"].startswith("P of another query")]
    gated = {(one["data"], one["n"]): one["gate"] for one in OF_RELAY}
    assert {one["n"] for one in permuted} == {36, 43} and {one["gate"] for one in permuted} == {"<= 0.035"}
    assert {gated[kind, n] for kind in relay_cells.nulls() for n in RELAY_SIZES} == {"<= 0.035"}
    assert gated[FOUND_AT] == ">= 0.7"
    assert any(one["share"] > 0.1 for one in OF_RELAY if one["data"] in relay_cells.limits())


def test_words_without_a_remark_are_seldom_false_of_answers_that_refuse() -> None:
    """Where one refusal makes up for very many queries, no remark helps; of true differences it costs few words."""
    of_zero = [one for one in OF_REMARKS if one["word"].startswith("better, worse")]
    rates = {(one["word"].endswith("without a remark"), one["data"], one["n"]): one for one in of_zero}
    for kind, (_, gated) in refusals().items():
        both = [(rates[False, kind, n], rates[True, kind, n]) for n in REMARK_SIZES]
        assert all(bare["gate"] == "" and one["gate"] == ("<= 0.02" if gated else "") for bare, one in both)
        assert any(bare["share"] > 0.2 for bare, _ in both)
        assert gated or any(one["share"] > 0.1 for _, one in both)
    true = {(one["word"], one["n"]): one["share"] for one in OF_REMARKS if one["word"].startswith("better (true)")}
    assert true["better (true), without a remark", 36] > true["better (true)", 36] - 0.1 > 0.8


def test_parts_that_are_not_drawn_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "record.json"
    write(record, RATES, 588)
    drawn = ["word_errors.py", "--out", str(record), "--only", "remarks", "--draws", "20"]
    monkeypatch.setattr("sys.argv", drawn)
    main()
    assert json.loads(record.read_text(encoding="utf-8"))["real columns"] == 588
    of_parts = {part: [one for one in read(record) if part_of(one) == part] for part in ("words", "remarks", "relay")}
    assert of_parts["words"] == OF_WORDS and of_parts["relay"] == OF_RELAY
    keys = [[(one["word"], one["data"], one["n"]) for one in some] for some in (of_parts["remarks"], OF_REMARKS)]
    assert keys[0] == keys[1] and {one["draws"] for one in of_parts["remarks"]} == {20}


@pytest.mark.parametrize(
    ("share", "gate", "expected"),
    [
        (0.06, "<= 0.05", True),
        (0.08, "<= 0.05", False),
        (0.6, ">= 0.7", False),
        (0.69, ">= 0.7", True),
        (0.9, "", True),
    ],
)
def test_a_gate_allows_two_standard_errors(share: float, gate: str, expected: bool) -> None:
    assert holds({"share": share, "standard_error": 0.01, "gate": gate}) is expected


@pytest.mark.simulation
def test_the_words_of_now_have_the_rates_of_the_record() -> None:
    known = {(one["word"], one["data"], one["n"]): one for one in RATES}
    made = [*records([], draws=2000, sizes=(12, 36)), *remark_records(draws=1000, sizes=(12, 36))]
    made += relay_records({}, draws=300, sizes=(36,))
    for one in made:
        before = known[one["word"], one["data"], one["n"]]
        assert abs(one["share"] - before["share"]) < max(0.025, 5 * np.hypot(one["standard_error"], 0.01)), one


def test_a_difference_is_found_and_too_few_are_not_said() -> None:
    drawn = nulls([])["normal"](np.random.default_rng(0), 200, 36)
    assert false_words(drawn + 2.0)["better, worse (truth 0)"].all()
    few = np.where(np.arange(36)[:, None] < 7, drawn + 2.0, 0.0)
    assert not any(said.any() for said in false_words(few).values())


def test_relay_is_found_until_the_queries_have_the_answers_of_others() -> None:
    random = np.random.default_rng(0)
    cell = relay_cells.simulated(random, 100, retrievers=3, slope=2.0)
    assert relayed(cell)
    moved = relay_cells.of_other_queries([cell], random, 100)
    assert not relayed(moved)
    # Whole queries move: P₀ and the answers of all retrievers together.
    whole = {(*column, p0) for column, p0 in zip(cell.p.T, cell.p0, strict=True)}
    assert {(*column, p0) for column, p0 in zip(moved.p.T, moved.p0, strict=True)} == whole


def test_half_of_the_contexts_are_shared() -> None:
    cell = relay_cells.nulls()["two retrievers that share half of their contexts"](np.random.default_rng(0), 10_000)
    alike = cell.context[0] == cell.context[1]
    assert alike.mean() == pytest.approx(0.5, abs=0.02)
    assert (cell.p[0] == cell.p[1])[alike].all() and (cell.x[0] == cell.x[1])[alike].all()


def test_a_record_is_read_as_written(tmp_path: Path) -> None:
    made = list(records([], draws=50, sizes=(12,)))
    write(tmp_path / "record.json", made, 0)
    assert read(tmp_path / "record.json") == made
