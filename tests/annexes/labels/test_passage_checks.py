"""Checks of judges of passages for bias: what is asked again, that a biased judge is caught, and the jobs together."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.clusters import spearman_left_out
from ragrelay.analysis.judge_checks import PASSAGE_COLUMNS, analyse_judge_checks
from ragrelay.annexes.labels.passage_checks import SCORE_COLUMNS, build_check_prompts
from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.base.vocabulary.judge_checks import LENGTH, PADDED, PADDING, PADDING_WORDS, SWAPPED
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.prompting.layout import build_single_prompts
from ragrelay.prompting.templates import Template, load_template
from ragrelay.questions.judging.check_scores import checked_scores
from scipy.stats import spearmanr

from tests.annexes.labels.test_judge_labels import CONTEXTS, MODEL, QUERIES
from tests.support.asking import asked as ask
from tests.support.asking import read
from tests.support.asking import work as work_of
from tests.support.sandbox import ROOT

pytestmark = pytest.mark.engine

OF = {"dataset": "d", "source": "grades", "judge": "lm"}
GRADES = load_template(ROOT / "config/prompts/grades.yaml")
ALL = [("1", "x"), ("1", "y"), ("2", "z")]


def asked_by(template: Template, size: int) -> dict[str, list[tuple[str, str, str | None]]]:
    """Return what each check asks: qid, docno and the changed prompt."""
    again = CONTEXTS.with_columns(rank=pl.lit(1, pl.Int64))
    asked, prompts = build_check_prompts(QUERIES, [CONTEXTS, again], template, 2, size)
    texts = dict(prompts.select("prompt_id", "prompt").iter_rows())
    own = build_single_prompts(QUERIES, CONTEXTS, template, 2).select(pl.col("docnos").list.first(), "prompt_id")
    assert dict(asked.select("docno", "prompt_id").iter_rows()) == dict(own.iter_rows()), "those of the labels"
    return {
        check: [(qid, docno, texts.get(name)) for qid, docno, name in some.iter_rows()]
        for (check,), some in asked.select("check", "qid", "docno", "changed_prompt_id").partition_by(
            "check", as_dict=True, include_key=False).items()
    }  # fmt: skip


def test_passages_are_padded_and_the_questions_parts_swapped() -> None:
    """Each passage is asked about once, however many retrievers found it; a change takes some of each query."""
    shown = asked_by(GRADES, 2)
    assert shown[LENGTH] == [(*pair, None) for pair in ALL]
    assert [qid for qid, *_ in shown[PADDED]] == [qid for qid, *_ in shown[SWAPPED]] == ["1", "2"]
    padded, swapped = (asked_by(GRADES, 9)[check] for check in (PADDED, SWAPPED))
    assert [pair[:2] for pair in padded] == ALL
    assert padded[0][2] == GRADES.render("what is tea", [f"tea is a plant {PADDING}"])
    text = str(swapped[0][2])
    assert text.index("Passage: tea") < text.index("Question: what is tea") < text.index("Grade (0")


@pytest.mark.parametrize("name", ["grades", "relevance"])
def test_templates_of_the_repository_can_be_swapped(name: str) -> None:
    """They have the same lines in another order."""
    template = load_template(ROOT / f"config/prompts/{name}.yaml")
    own, swapped = (text.format(query="Q\n", contexts="C\n") for text in (template.kshot, template.swapped))
    assert own != swapped and sorted(own.replace("\n", "")) == sorted(swapped.replace("\n", ""))


def test_what_changes_nothing_is_no_check() -> None:
    assert set(asked_by(replace(GRADES, swapped=""), 9)) == {LENGTH, PADDED}
    assert set(asked_by(replace(GRADES, swapped=GRADES.kshot), 9)) == {LENGTH, PADDED}


def scores_by(judge: Callable[[int, float, str], float], n: int = 20) -> pl.DataFrame:
    """Score a passage of each of ``n`` queries, its quality unrelated to its length, as shares of two words."""
    rows, shares = [], {}
    for place in range(n):
        words, quality = 10 + 7 * (place * 3 % n), 0.1 + 0.8 * (place * 7 % n) / n
        for check in (LENGTH, SWAPPED, PADDED):
            name, changed = f"{place}", None if check == LENGTH else f"{place} {check}"
            rows.append((check, str(place), "d", name, changed, words))
            shares[name] = judge(words, quality, "")
            if changed:
                shares[changed] = judge(words + PADDING_WORDS * (check == PADDED), quality, check)
    names = ["check", "qid", "docno", "prompt_id", "changed_prompt_id", "words"]
    table = pl.DataFrame({"prompt_id": list(shares), "shares": [[p, 1 - p] for p in shares.values()]})
    return checked_scores(
        pl.DataFrame(rows, schema=names, orient="row"),
        table,
        ANNOTATION_KINDS.of({"kind": "llm"}).score(),  # type: ignore[attr-defined]
    )


def noise(words: int, quality: float, check: str) -> float:
    return (((words + len(check)) * 7919 + int(quality * 1000) * 104729) % 1000 / 1000 - 0.5) / 50


def found_by(judge: Callable[[int, float, str], float]) -> dict[str, dict[str, Any]]:
    table = analyse_judge_checks(scores_by(judge), OF)
    assert table.columns == list(PASSAGE_COLUMNS) and table.row(0)[:3] == tuple(OF.values())
    return {row["check"]: row for row in table.iter_rows(named=True)}


def test_a_judge_that_prefers_long_passages_is_caught() -> None:
    found = found_by(lambda words, quality, check: quality / 4 + words / 250 + noise(words, quality, check))
    assert found[PADDED]["low"] > 0.1 and found[PADDED]["p_holm"] < 0.001 and found[LENGTH]["low"] > 0.5
    assert found[SWAPPED]["p_holm"] > 0.05


def test_a_judge_that_minds_the_order_is_caught_and_a_fair_one_is_not() -> None:
    by_order = found_by(
        lambda words, quality, check: quality * (0.8 if check == SWAPPED else 1) + noise(words, quality, check)
    )
    assert by_order[SWAPPED]["high"] < -0.05 and by_order[SWAPPED]["p_holm"] < 0.001
    fair = found_by(lambda words, quality, check: quality + noise(words, quality, check))
    assert min(fair[SWAPPED]["p_holm"], fair[PADDED]["p_holm"]) > 0.05
    assert fair[LENGTH]["low"] < 0 < fair[LENGTH]["high"] and fair[LENGTH]["p_value"] is None


def test_the_score_of_a_grading_judge_is_the_expected_grade() -> None:
    shares = pl.DataFrame({"shares": [[0.1, 0.2, 0.3, 0.4]]})
    assert shares.select(ANNOTATION_KINDS.of({"kind": "graded_llm"}).score()).item() == pytest.approx(2.0)  # type: ignore[attr-defined]


def test_rho_without_each_query_is_that_of_the_others() -> None:
    """It holds to first order where 1 / 60 of the rows are left out, with ties and queries of 1 to 9 rows."""
    random = np.random.default_rng(0)
    query = np.repeat(np.arange(60), random.integers(1, 10, 60))
    length = random.standard_normal(60)[query] + random.standard_normal(len(query))
    x, y = np.round(np.exp(length) * 10), np.round(length + random.standard_normal(len(query)), 1)
    found = spearman_left_out(x, y, query)
    exact = np.array([spearmanr(x[query != one], y[query != one]).statistic for one in range(60)])
    assert np.abs(found - exact).max() < 0.25 * exact.std() and found.std() == pytest.approx(exact.std(), rel=0.05)


def test_the_jobs_ask_and_score_as_the_labels_are_made(generator: dict[str, Any], tmp_path: Path) -> None:
    """Unchanged judgements are those of the labels, only changed prompts are asked, and the plan counts them."""
    build_single_prompts(QUERIES, CONTEXTS, GRADES, 2).write_parquet(tmp_path / "prompts.parquet")
    asked, prompts = build_check_prompts(QUERIES, [CONTEXTS], GRADES, 2, 2)
    (tmp_path / "d").mkdir()
    asked.write_parquet(tmp_path / "asked.parquet")
    prompts.write_parquet(tmp_path / "d/grades.parquet")
    source = ANNOTATION_KINDS.of({"kind": "graded_llm"})
    definition = {**generator, "model": MODEL, "max_model_len": 512}
    files, settings = {"prompts": [tmp_path / "prompts.parquet"]}, {"words": source.words(), "begins": ""}  # type: ignore[attr-defined]
    _, judged = ask("judge_passages", files, settings, definition, tmp_path)
    labels = read("judge_passages", files, {"source": {"kind": "graded_llm"}}, judged, tmp_path)["labels"]
    changed_files = {"prompts": [tmp_path / "d/grades.parquet"]}
    planned = GeneratorPlan({**definition, "max_tokens": 4}, "fp", Template(), tmp_path, 1)
    work = work_of("check_passages", [(changed_files, settings, {})], {"lm": planned})
    _, receipt = ask("check_passages", changed_files, settings, definition, tmp_path)
    assert receipt["made"] == receipt["asked"] == len(work) and receipt["cached"] == 0
    assert work["prompt_tokens"].sum() == receipt["prompt_tokens"] and not work["cached"].any()
    checked = {"asked": tmp_path / "asked.parquet"}
    table = read("check_passages", checked, {"source": {"kind": "graded_llm"}}, receipt, tmp_path)["scores"]
    assert table.columns == list(SCORE_COLUMNS) and table["judgements"].unique().to_list() == [1]
    own = dict(labels.select("docno", "gain").iter_rows())
    assert all(score == own[docno] for docno, score in table.select("docno", "score").iter_rows())
    assert table.filter(check=LENGTH).select("words", "changed_score").rows() == [(4, None), (4, None), (1, None)]
    changed = table.filter(pl.col("check") != LENGTH)
    assert changed.height == 4 and changed["changed_score"].is_between(0, 3).all()
    assert not (changed["changed_score"] == changed["score"]).any()
