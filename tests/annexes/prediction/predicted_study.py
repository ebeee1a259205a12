"""The predictions of the study with everything optional, against its answers, rankings and context use."""

import gzip

import polars as pl
import pytest

from tests.support.sandbox import Sandbox


def check_predictions(optional: Sandbox) -> None:
    """Values per query, k and ordering as the answers and context use have them; a page; no file of another kind."""
    folder = optional.results / "small"
    table = pl.read_parquet(folder / "predictions/demo-lm/bm25.parquet")
    assert table["predictor"].n_unique() >= 60
    answers = pl.concat(
        pl.read_parquet(folder / f"answers/demo-lm/bm25/ascending/k2/seed{seed}.parquet") for seed in (1, 2)
    )
    means = answers.group_by("qid").agg(expected=(pl.col("logprob") / pl.col("answer_tokens")).mean())
    found = table.filter(predictor="answer_logprob", k=2, ordering="ascending").join(means, on="qid")
    assert found.height == 8 and found["value"].to_list() == pytest.approx(found["expected"].to_list())
    stored = pl.read_parquet(list((optional.folder / "cache/answers").rglob("part-*.parquet")))
    of_first = stored.select("prompt_id", "seed", "first_token_margin")
    margins = answers.join(of_first, on=["prompt_id", "seed"]).group_by("qid").agg(pl.col("first_token_margin").mean())
    found = table.filter(predictor="first_token_margin", k=2, ordering="ascending").join(margins, on="qid")
    assert found.height == 8 and found["value"].to_list() == pytest.approx(found["first_token_margin"].to_list())
    lines = gzip.decompress((folder / "runs/bm25.run.gz").read_bytes()).decode().splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    run = pl.DataFrame({"qid": [row[0] for row in rows], "score": [float(row[4]) for row in rows]})
    best = run.group_by("qid").agg(expected=pl.col("score").max())
    top = table.filter(predictor="max_score").join(best, on="qid")
    assert top.height == 16 and top["ordering"].is_null().all()
    assert top["value"].to_list() == pytest.approx(top["expected"].to_list())
    use = pl.read_parquet(folder / "context_use/demo-lm/bm25.parquet").filter(k=1, ordering="descending")
    known = use.group_by("qid").agg(expected=pl.col("context_use").mean())
    used = table.filter(predictor="context_use", k=1, ordering="descending").join(known, on="qid")
    assert used["value"].to_list() == pytest.approx(used["expected"].to_list())
    likely = pl.read_parquet(folder / "predictions/contexts/demo-lm/bm25.parquet").filter(k=2)
    perplexity = likely.select("qid", expected=(-pl.col("logprob") / pl.col("tokens")).exp())
    whole = table.filter(predictor="context_perplexity_whole", k=2).join(perplexity, on="qid")
    assert whole.height == 8 and whole["value"].to_list() == pytest.approx(whole["expected"].to_list())
    _check_passages(optional, table)
    assert table.filter(predictor="dense_qpp")["reason"].unique().to_list() == ["no dense retriever in the study"]
    ensembles = pl.read_csv(folder / "analysis/minilm/demo-lm/prediction_ensembles.csv")
    assert set(ensembles["reason"]) == {"fewer than 20 queries"}
    page = (optional.results / "report/predict.html").read_text(encoding="utf-8")
    assert "Is a predictor worth using?" in page and "could be tested (fewer than 10 queries)" in page


def _check_passages(optional: Sandbox, table: pl.DataFrame) -> None:
    """Scores of the reranker and quality of a file, of the passages of each context; agreement of the two seeds."""
    folder = optional.results / "small"
    contexts = pl.read_parquet(folder / "contexts/bm25.parquet").filter(pl.col("rank") <= 2)
    scores = pl.read_parquet(folder / "predictions/reranked/tiny/bm25.parquet")
    assert scores.height == contexts.height and scores["score"].n_unique() > contexts.height // 2
    of_passages = contexts.select("qid", "docno", "text").join(scores, on=["qid", "docno"])
    expected = of_passages.group_by("qid").agg(
        reranker_mean=pl.col("score").mean(),
        reranker_max=pl.col("score").max(),
        passage_quality_min=pl.col("text").str.len_chars().min(),
    )
    agreement = pl.read_parquet(folder / "predictions/agreement/token_f1/demo-lm/bm25.parquet")
    both = expected.join(
        agreement.filter(k=2, ordering="ascending").select("qid", agreement_token_f1="agreement"), on="qid"
    )
    for name in ("reranker_mean", "reranker_max", "passage_quality_min", "agreement_token_f1"):
        mine = table.filter(pl.col("ordering").fill_null("ascending") == "ascending", predictor=name, k=2)
        found = mine.join(both, on="qid")
        assert found.height == 8 and found["value"].to_list() == pytest.approx(found[name].to_list()), name
    assert table.filter(predictor="bert_qpp")["reason"].unique().to_list() == [
        "no cross-encoder for predictors in the study"
    ]
