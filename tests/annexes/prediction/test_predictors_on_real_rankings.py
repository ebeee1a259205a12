"""NQC, the largest score, DenseQPP and A-Pair-Ratio on a public run over TREC DL 2019's passages, where these are."""

import gzip
import json

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.predictor import predictors, valued
from ragrelay.annexes.prediction.study_queries import read_ranking
from ragrelay.annexes.prediction.subject import Query, Subject
from ragrelay.annexes.prediction.terms import TermStatistics, Word, terms
from sklearn.metrics.pairwise import cosine_similarity

from tests.support.sandbox import ROOT

POOL = ROOT.parent / "shared/data/trec-dl-2019-pool"
NAMED = {one.name: one for one in predictors({})}


@pytest.mark.skipif(not POOL.is_dir(), reason="no TREC DL 2019 passages next to the project")
def test_the_papers_definitions() -> None:
    """The expected values come from numpy and scikit-learn alone, by the definitions of Tian et al. (2026)."""
    lines = (POOL / "queries.tsv").read_text(encoding="utf-8").splitlines()
    queries = pl.DataFrame([line.split("\t") for line in lines], schema=["qid", "query"], orient="row")
    asked = {word for query in queries["query"] for word in terms(query)}
    with gzip.open(POOL / "passages.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [set(terms(json.loads(line)["text"])) & asked for line in file]
    frequency = {word: sum(word in text for text in texts) for word in asked}
    known = {word: Word(n, n, 1.0 * n, 1.0 * n) for word, n in frequency.items() if n}
    statistics, random = TermStatistics(len(texts), 1, known, {}), np.random.default_rng(0)
    ranking = read_ranking(POOL / "runs/bm25.run.gz", queries)
    for qid, text in queries.head(15).iter_rows():
        rows = ranking.filter(qid=qid)
        docnos, scores = rows["docno"].to_list(), rows["score"].to_numpy()
        vectors = {docno: random.normal(size=32) for docno in docnos}
        query = Query(qid, text, statistics, docnos, scores, [], np.array([]), (), random.normal(size=32), vectors)
        df = np.array([max(frequency[word], 1) for word in terms(text)])
        top = np.array([vectors[docno] for docno in docnos[:50]])
        pairs = cosine_similarity(top) @ np.outer(scores[:50], scores[:50])
        spans = np.ptp(np.vstack([query.vector, top[:5]]), axis=0)  # type: ignore[list-item]
        expected = {
            "max_score": scores.max(),
            "nqc": np.var(scores[:100]) * np.log((len(texts) - df + 0.5) / (df + 0.5)).max(),
            "a_pair_ratio": pairs[:5, :5].mean() / pairs[10:, 10:].mean(),
            "dense_qpp": -np.log(spans).sum(),
        }
        assert {name: valued(NAMED[name], Subject(query, 5))[0] for name in expected} == pytest.approx(
            expected, abs=1e-6
        )
