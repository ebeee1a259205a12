"""Every kind of scorer in a study, from the answers that are there to the report; gold answers among the references."""

import json

import polars as pl

from tests.e2e.test_incremental import Copy

SCORERS = ["rouge1", "rougeL", "bleu", "chrf", "centroid", "length", "exact_match", "token_f1", "containment"]


def test_scorers_of_all_kinds(copied: Copy) -> None:
    study = copied()
    answers = {"q01": ["no such words", "another"], "q02": ["the"]}
    lines = [json.dumps({"qid": qid, "answers": texts}) for qid, texts in answers.items()]
    (study.collection / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = {path: path.stat().st_mtime_ns for path in (study.folder / "cache/answers").rglob("*.parquet")}
    study.config["grid"] = {**study.config["grid"], "retrievers": ["bm25", "rel"], "scorers": SCORERS}
    study.write_config()
    study.snakemake()
    assert {path: path.stat().st_mtime_ns for path in (study.folder / "cache/answers").rglob("*.parquet")} == made
    folder = study.results / "small"
    for scorer in SCORERS:
        table = pl.read_parquet(folder / f"scores/{scorer}/demo-lm/rel.parquet")
        gold = scorer in ("exact_match", "token_f1", "containment")
        expected = {"gold"} if gold else {"lenient", "strict", "lenient-unseen", "strict-unseen"}
        assert set(table["references"]) == expected, scorer
        assert table["f1"].null_count() == 0
        assert (study.results / f"report/tables/table1_small_demo-lm_{scorer}.csv").stat().st_size > 0
        utility = pl.read_parquet(folder / f"utility/{scorer}/demo-lm.parquet").drop_nulls("utility")
        assert (utility["utility"] - (utility["p"] - utility["p0"])).abs().max() < 1e-9, "absolute by default"
    assert set(pl.read_parquet(folder / "scores/token_f1/demo-lm/rel.parquet")["qid"]) == set(answers)
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "gold references" in page and "gold-unseen" not in page
    left_out = json.loads((folder / "collection/left_out.json").read_text())
    assert {"what": "queries without a gold answer", "count": 6} in left_out
