"""A question of one's own to a model is one file: rules, plan, files and reruns follow from it."""

import json
from pathlib import Path

import polars as pl

from tests.support.sandbox import ROOT, Sandbox, jobs_of

QUESTIONS = "workflow/scripts/ragrelay/asking/questions"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## A question to a model")[1]
SUFFICIENT = PAGE.split("```python\n")[1].split("```")[0]
"""The example for contributors: whether the best passage of each query is enough to answer it."""
FOLDER = "results/small/small/sufficient/demo-lm"


def test_a_question_in_one_file(finished: Sandbox, tmp_path: Path) -> None:
    """It is listed, planned, asked once, and asked again where its prompt changes; nothing else runs."""
    study = finished.copied_to(tmp_path / "study")
    path = study.folder / QUESTIONS / "ask_sufficient.py"
    path.write_text(SUFFICIENT, encoding="utf-8")
    assert "ask_sufficient (Ask whether the best passage" in study.snakemake("--list").stdout
    study.snakemake("plan")
    rows = pl.read_csv(study.results / "plan.csv").filter(job="ask_sufficient")
    assert rows["retriever"].to_list() == ["bm25", "rel", "nrel"] and rows["to_make"].sum() > 0

    targets = [f"{FOLDER}/{retriever}.parquet" for retriever in ("bm25", "rel")]
    made = study.snakemake(*targets)
    assert {rule: n for rule, n in jobs_of(made).items() if n} == {"ask_sufficient": 2, "read_sufficient": 2}
    receipts = [json.loads((study.folder / FOLDER / f"{name}.json").read_text()) for name in ("bm25", "rel")]
    planned = rows.filter(pl.col("retriever").is_in(["bm25", "rel"]))
    assert [one["asked"] for one in receipts] == planned["asked"].to_list()
    table = pl.read_parquet(study.folder / targets[0])
    assert table["sufficient"].is_between(0, 1, closed="none").all() and table["qid"].n_unique() == len(table) > 0
    assert study.planned(*targets) == {}

    path.write_text(SUFFICIENT.replace("Answer:", "Enough:").replace("p of yes", "share"), encoding="utf-8")
    assert study.planned(*targets) == {"ask_sufficient": 2, "read_sufficient": 2}
    path.write_text(SUFFICIENT.replace('pl.col("shares")', 'pl.col("shares") ').replace("list.first", "list.last"))
    assert study.planned(*targets) == {"read_sufficient": 2}, "the replies are read again, nothing is asked"
