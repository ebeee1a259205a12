"""Eight measures on a language model's stored answers to TREC DL 2019's queries, where its judgements are."""

import gzip
import itertools

import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import UNDECIDED
from ragrelay.annexes.measure_comparison.closeness import NOT_BEATEN, WITHOUT_RELAY, compare_measures
from ragrelay.base.vocabulary.measures import measure_ranking

from tests.support.sandbox import ROOT

POOL = ROOT.parent / "shared/data/trec-dl-2019-pool"
MEASURES = ["nDCG", "nDCG(dcg='exp-log2')", "P", "P(rel=1)", "P(rel=3)", "RR", "AP", "Success"]
K = 5
BY_LUCENE = {"bm25": "run-lucene-bm25", "bm25_rm3": "run-lucene-bm25_rm3"}


@pytest.mark.skipif(not POOL.is_dir(), reason="no TREC DL 2019 judgements next to the project")
def test_eight_measures_on_stored_answers() -> None:
    lines = [line.split() for line in (POOL / "qrels.txt").read_text("utf-8").splitlines()]
    qrels = pl.DataFrame(
        [(qid, docno, int(label)) for qid, _, docno, label in lines], ["qid", "docno", "label"], orient="row"
    )
    parts = []
    for path in sorted((POOL / "runs").glob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [(qid, docno, float(score)) for qid, _, docno, _, score, _ in map(str.split, file)]
        run = pl.DataFrame(rows, ["qid", "docno", "score"], orient="row").sort("score", descending=True)
        run = run.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("qid"))
        name = path.name.removesuffix(".run.gz")
        measured = measure_ranking(run.filter(pl.col("rank") <= K).drop("score"), qrels, MEASURES, [K], 2)
        parts.append(measured.with_columns(retriever=pl.lit(BY_LUCENE.get(name, name))))
    stored = pl.read_parquet(ROOT / "benchmarks/columns/smollm2_pool.parquet").filter(k=K, references="lenient")
    stored = stored.filter(~pl.col("retriever").is_in(["ideal", "nrel"])).with_columns(ordering=pl.lit("descending"))
    utility = stored.select("retriever", "ordering", "k", "references", "qid", "p", "p0")
    contexts = stored.select(
        "retriever", "ordering", "k", "qid", docnos=pl.concat_list(pl.col("context").cast(pl.String))
    )
    kinds = dict.fromkeys(sorted(stored["retriever"].unique()), "run")
    inputs = (utility, pl.concat(parts), contexts, kinds)
    fits, pairs = compare_measures(relay.cells_of(*inputs), relay.relay(*inputs))
    assert fits["measure"].sort().to_list() == sorted(MEASURES) and set(fits["n"]) == {43}
    assert pairs.height == len(list(itertools.combinations(MEASURES, 2)))
    # A model of 135 million parameters uses its context little: no measure is known to follow its answers.
    assert set(fits["verdict"]) <= {WITHOUT_RELAY, NOT_BEATEN} and set(pairs["verdict"]) == {UNDECIDED}
    assert fits["r2"].abs().max() < 0.1 and (fits["low"] < fits["r"]).all()  # type: ignore[operator]
