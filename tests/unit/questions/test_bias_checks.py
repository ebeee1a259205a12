"""Checks of judges for bias: what is asked again, and that a biased judge is caught and a fair one is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.analysis.judge_checks import COLUMNS, analyse_judge_checks
from ragrelay.analysis.multiplicity import holm
from ragrelay.base.vocabulary.columns import CITED_SENTENCES
from ragrelay.base.vocabulary.judge_checks import LENGTH, PADDED, PADDING, PADDING_WORDS, REVERSED, SWAPPED
from ragrelay.questions.judging.bias_checks import ANSWER_KEY, SCORE_COLUMNS, changed_templates, checked, sampled
from ragrelay.questions.judging.check_scores import checked_scores
from ragrelay.questions.judging.judge_requests import Judging
from ragrelay.questions.judging.templates import JudgeTemplate
from ragrelay.scoring.near_copies import PassageTexts
from scipy.stats import spearmanr, ttest_1samp

from tests.support.asking import asked as ask
from tests.support.asking import read
from tests.unit.questions.test_judged_answers import CELL, TEXTS, WINDOW, Judged, judge_template, scorer_of

pytestmark = pytest.mark.engine

ANSWER = "tea is a plant. iron is a metal."


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return Judged(tmp_path)


def asked_of(judged: Judged, kind: str, **keys: Any) -> tuple[dict[str, list[Any]], Judging]:
    """The questions about the first query's answer, and about an empty one to the second, by check."""
    by = judged.by(scorer_of(kind=kind, **keys), {"all": 2, "best": 3})
    cited = pl.lit(None, CITED_SENTENCES.dtype)
    of_cell = {name: pl.lit(one) for name, one in zip(("ordering", "k"), CELL[:2], strict=True)}
    answers = pl.read_parquet(judged.folder / "answers").with_columns(**of_cell, cited_sentences=cited)
    contexts = {CELL[:2]: {"1": ["x", "z"], "2": ["y"]}}
    passages = [("1", "x"), ("1", "z"), ("2", "y")]
    frame = pl.DataFrame([(q, d, TEXTS[d]) for q, d in passages], schema=["qid", "docno", "text"], orient="row")
    frame.write_parquet(judged.folder / "passages")
    found, prompts = checked(answers, contexts, PassageTexts([judged.folder / "passages"]), by, "bm25")
    texts = dict(prompts.select("prompt_id", "prompt").iter_rows())
    shown = {
        check: [(qid, texts.get(name)) for qid, name in rows.select("qid", "changed_prompt_id").iter_rows()]
        for (check,), rows in found.group_by("check", maintain_order=True)
    }
    return shown, by


def test_answers_are_padded_and_references_turned(judged: Judged) -> None:
    """Only the set of the lowest grade is checked, and an answer without text is not asked about."""
    shown, by = asked_of(judged, "llm_judge")
    texts = {"query": "what is tea", "answer": ANSWER, "references": [TEXTS["x"], TEXTS["z"]]}
    render = by.template.render
    assert shown == {
        LENGTH: [("1", None)],
        REVERSED: [("1", render({**texts, "references": [TEXTS["z"], TEXTS["x"]]}))],
        PADDED: [("1", render({**texts, "answer": f"{ANSWER} {PADDING}"}))],
        SWAPPED: [("1", JudgeTemplate(by.template.swapped).render(texts))],
    }
    assert shown[SWAPPED][0][1].index("Answer:") < shown[SWAPPED][0][1].index("Reference texts:")
    assert f"{ANSWER} {PADDING}\n" in shown[PADDED][0][1] and "[1] tea has leaves" in shown[REVERSED][0][1]


def test_a_check_has_the_answers_that_it_changes(judged: Judged) -> None:
    """One reference can't be turned; one of two sentences' passages can, and the other is asked about as it is."""
    assert set(asked_of(judged, "llm_judge", best=1)[0]) == {LENGTH, PADDED, SWAPPED}
    assert set(asked_of(judged, "llm_judge", references="none")[0]) == {LENGTH, PADDED, SWAPPED}
    shown, by = asked_of(judged, "faithfulness")
    turned = [by.template.render({"passages": [TEXTS["z"], TEXTS["x"]], "sentence": one})
              for one in ("tea is a plant.", "iron is a metal.")]  # fmt: skip
    assert shown[REVERSED] == [("1", turned[0]), ("1", turned[1])]
    assert f"tea is a plant. {PADDING}" in shown[PADDED][0][1]


@pytest.mark.parametrize("kind", ["llm_judge", "faithfulness", "support", "nuggets"])
@pytest.mark.parametrize(
    "keys", [{}, {"scale": "grades"}, {"references": "none"}, {"scale": "grades", "references": "none"}]
)
def test_templates_of_the_repository_can_be_swapped(kind: str, keys: dict[str, Any]) -> None:
    """They have the same lines in another order."""
    if keys and kind != "llm_judge":
        return
    template = judge_template(scorer_of(kind=kind, **keys, **({"path": "x"} if kind == "nuggets" else {})))
    assert set(changed_templates(template)) == {REVERSED, PADDED, SWAPPED}
    names = {name: f"<{name}>\n" for name in ("query", "answer", "references", "passages", "sentence", "nugget")}
    own, swapped = (text.format(**names) for text in (template.question, template.swapped))
    assert own != swapped and sorted(own.replace("\n", "")) == sorted(swapped.replace("\n", ""))


def test_a_template_without_an_order_of_its_own() -> None:
    assert set(changed_templates(JudgeTemplate("{answer}"))) == {REVERSED, PADDED}


def test_the_sample_takes_queries_in_turn() -> None:
    keys = pl.DataFrame(
        [(r, q, "descending", k, 1) for r in ("a", "b") for q in ("1", "2", "3") for k in (1, 2, 5)],
        schema=["retriever", "qid", "ordering", "k", "seed"], orient="row",
    )  # fmt: skip
    for size in (1, 3, 4, 6, 18, 50):
        found = sampled(keys, ANSWER_KEY, size)
        counts = found["qid"].value_counts()["count"].to_list()
        assert found.height == min(size, 18) and max(counts) - min(counts) <= 1
        assert found.equals(sampled(keys.reverse(), ANSWER_KEY, size)), "whatever the order"
    assert (
        sampled(keys, ANSWER_KEY, 6).height
        == sampled(keys, ANSWER_KEY, 6).join(sampled(keys, ANSWER_KEY, 7), on=keys.columns).height
    )


OF = {"dataset": "d", "scorer": "s", "generator": "lm"}
Judge = Callable[[int, float, str], float]
"""Probability of yes by the words of the answer, its quality from 0 to 1, and the check."""


def scores_by(judge: Judge, n: int = 20) -> pl.DataFrame:
    """Score an answer to each of ``n`` queries whose quality has nothing to do with its length."""
    rows, shares = [], {}
    for place in range(n):
        words, quality = 10 + 7 * (place * 3 % n), 0.1 + 0.8 * (place * 7 % n) / n
        for check in (LENGTH, REVERSED, PADDED):
            name, changed = f"{place}", None if check == LENGTH else f"{place} {check}"
            rows.append((check, "bm25", str(place), "descending", 1, 1, 0, "", name, changed, words))
            shares[name] = judge(words, quality, "")
            if changed:
                shares[changed] = judge(words + PADDING_WORDS * (check == PADDED), quality, check)
    names = ["check", "retriever", "qid", "ordering", "k", "seed", "number", "item", "prompt_id", "changed_prompt_id"]
    asked = pl.DataFrame(rows, schema=[*names, "words"], orient="row")
    table = pl.DataFrame({"prompt_id": list(shares), "shares": [[p, 1 - p] for p in shares.values()]})
    return checked_scores(asked.drop("number", "item"), table, scorer_of(kind="llm_judge").score())


def row_of(judge: Judge, check: str) -> dict[str, Any]:
    return analyse_judge_checks(scores_by(judge), OF).filter(check=check).row(0, named=True)


def noise(words: int, quality: float) -> float:
    """Return a number from -.01 to .01 that looks drawn."""
    return ((words * 7919 + int(quality * 1000) * 104729) % 1000 / 1000 - 0.5) / 50


def fair(words: int, quality: float, check: str) -> float:
    return quality + noise(words + len(check), quality)


def of_length(words: int, quality: float, check: str) -> float:
    return min(0.95, quality / 4 + words / 250) + noise(words + len(check), quality)


def of_position(words: int, quality: float, check: str) -> float:
    return quality * (0.8 if check == REVERSED else 1.0) + noise(words + len(check), quality)


def test_a_judge_that_prefers_long_answers_is_caught() -> None:
    padded, length = row_of(of_length, PADDED), row_of(of_length, LENGTH)
    assert padded["low"] > 0.1 and padded["p_holm"] < 0.001 and length["low"] > 0.5
    assert row_of(of_length, REVERSED)["p_holm"] > 0.05


def test_a_judge_that_minds_the_order_is_caught() -> None:
    assert row_of(of_position, REVERSED)["high"] < -0.05 and row_of(of_position, REVERSED)["p_holm"] < 0.001
    assert row_of(of_position, PADDED)["p_holm"] > 0.05


def test_a_fair_judge_is_not() -> None:
    for check in (REVERSED, PADDED):
        row = row_of(fair, check)
        assert row["p_holm"] > 0.05 and row["low"] < 0 < row["high"] and abs(row["value"]) < 0.01
    length = row_of(fair, LENGTH)
    assert length["low"] < 0 < length["high"] and length["p_value"] is None and length["family_size"] == 2


def test_numbers_by_hand() -> None:
    """Two answers to the first query count half each; rho is scipy's; p is the larger of the two tests'."""
    changes = [[0.1, 0.3], [0.0], [-0.1], [0.4], [0.05], [0.2]]
    rows = [
        (check, "bm25", str(q), "descending", 1, n, 10 * q + n, 0.2 + 0.05 * q, other, 2, n)
        for check in (PADDED, LENGTH)
        for q, some in enumerate(changes)
        for n, change in enumerate(some)
        for other in [None if check == LENGTH else 0.2 + 0.05 * q + change]
    ]
    names = ["check", "retriever", "qid", "ordering", "k", "seed", "words", "score", "changed_score", "judgements",
             "other_words"]  # fmt: skip
    table = analyse_judge_checks(pl.DataFrame(rows, schema=names, orient="row"), OF)
    assert table.columns == list(COLUMNS) and table.row(0)[:3] == ("d", "lm", "s")
    padded, length = table.to_dicts()
    means = [0.2, 0.0, -0.1, 0.4, 0.05, 0.2]
    assert padded["value"] == pytest.approx(sum(means) / 6) and (padded["n"], padded["n_queries"]) == (7, 6)
    assert padded["share_other_word"] == 1 / 14 and padded["judgements"] == 14
    assert padded["mean_score"] == pytest.approx((2 * 0.2 + 0.25 + 0.3 + 0.35 + 0.4 + 0.45) / 7)
    test = ttest_1samp(means, 0.0)
    interval = test.confidence_interval()
    assert padded["p_value"] >= test.pvalue - 1e-12 and padded["p_holm"] == padded["p_value"]
    assert padded["low"] <= interval.low + 1e-12 and padded["high"] >= interval.high - 1e-12
    words, scores = [0, 1, 10, 20, 30, 40, 50], [0.2, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45]
    assert length["value"] == pytest.approx(spearmanr(words, scores).statistic)
    assert holm(pl.Series([0.01, 0.04]).to_numpy()).tolist() == [0.02, 0.04]


def test_what_can_not_be_tested_says_why() -> None:
    few = analyse_judge_checks(scores_by(fair).filter(pl.col("qid").is_in(["1", "2", "3"])), OF)
    assert few["reason"].to_list() == ["fewer than 5 queries"] * 3 and few["value"].null_count() == 0
    same = analyse_judge_checks(scores_by(lambda *_: 0.5), OF)
    assert same["value"].to_list() == [0.0, 0.0, None] and same["p_value"].null_count() == 3
    assert "the change is the same for every query" in same["reason"].to_list()


def test_the_job_asks_and_scores(judged: Judged, generator: dict[str, Any]) -> None:
    """Scores are those of the job that judges all answers; changed ones come from the changed prompts alone."""
    scorer = scorer_of(kind="llm_judge")
    _, receipt, scores = judged.run(scorer, generator)
    folder = judged.folder
    files, settings = judged.job(scorer, "bm25")
    job = ("check_judge", files, {**settings, "size": 10}, {**generator, **WINDOW}, folder)
    asked, made = ask(*job)
    assert asked is not None and made["answers"] == 1 and made["made"] == 3 * receipt["made"] // 4 > 0
    assert asked["check"].to_list() == [LENGTH, REVERSED, PADDED, SWAPPED]
    asked.write_parquet(folder / "checked")
    table = read("check_judge", {"asked": folder / "checked"}, settings, made, folder)["scores"]
    assert table.columns == list(SCORE_COLUMNS)
    own = scores.filter(references="all")["f1"].item()
    assert table["score"].to_list() == [own] * 4 and table["words"].to_list() == [8] * 4
    assert table["changed_score"].null_count() == 1 and table["changed_score"].drop_nulls().is_between(0, 1).all()
    assert own not in table["changed_score"].to_list()
    _, again = ask(*job)
    assert (again["made"], again["cached"]) == (0, made["made"])
