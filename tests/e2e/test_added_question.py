"""A question to a model is one file, in the package or beside the study: all else follows from it."""

import json
from pathlib import Path

import polars as pl

from tests.support.annex_cases import of_annexes, targets
from tests.support.sandbox import ROOT, Sandbox, jobs_of

QUESTIONS = "workflow/scripts/ragrelay/questions/kinds"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## A question to a model")[1]
SUFFICIENT = PAGE.split("```python\n")[1].split("```")[0]
"""The example for contributors: whether the best passage of each query is enough to answer it."""
FOLDER = "results/small/small/sufficient/demo-lm"
HOW_TO = (ROOT / "docs/add-a-question.md").read_text(encoding="utf-8")
ABSTAINS = HOW_TO.split("```python\n")[1].split("```")[0]
"""The how-to's example: whether an answer says that it does not know."""


def test_a_question_in_one_file(finished: Sandbox, tmp_path: Path) -> None:
    """It is listed, planned, asked once, and asked again where its prompt changes; nothing else runs."""
    study = finished.copied_to(tmp_path / "study")
    path = study.folder / QUESTIONS / "ask_sufficient.py"
    path.write_text(SUFFICIENT, encoding="utf-8")
    assert "ask_sufficient (Ask whether the best passage" in study.snakemake("--list").stdout
    study.snakemake("plan")
    rows = pl.read_csv(study.results / "plan.csv").filter(job="ask_sufficient")
    [planned] = rows.to_dicts()
    assert not planned["retriever"] and planned["to_make"] > 0 and planned["engine_starts"] == 1

    targets = [f"{FOLDER}/{retriever}.parquet" for retriever in ("bm25", "rel")]
    made = study.snakemake(*targets)
    assert {rule: n for rule, n in jobs_of(made).items() if n} == {"ask_sufficient": 1, "read_sufficient": 2}
    receipt = json.loads((study.results / "small/asked/ask_sufficient/demo-lm.json").read_text())
    assert [part["wildcards"]["retriever"] for part in receipt["parts"]] == ["bm25", "rel", "nrel"]
    assert receipt["made"] == planned["to_make"]
    table = pl.read_parquet(study.folder / targets[0])
    assert table["sufficient"].is_between(0, 1, closed="none").all() and table["qid"].n_unique() == len(table) > 0
    assert study.planned(*targets) == {}

    path.write_text(SUFFICIENT.replace("Answer:", "Enough:").replace("p of yes", "share"), encoding="utf-8")
    assert study.planned(*targets) == {"ask_sufficient": 1, "read_sufficient": 2}
    path.write_text(SUFFICIENT.replace('pl.col("shares")', 'pl.col("shares") ').replace("list.first", "list.last"))
    assert study.planned(*targets) == {"read_sufficient": 2}, "the replies are read again, nothing is asked"


def test_a_question_beside_the_study(finished: Sandbox, tmp_path: Path) -> None:
    """One file and one key put it into the plan, SLURM's dry run, `status`, the page and exports."""
    study = finished.copied_to(tmp_path / "study")
    path = study.folder / "my_questions.py"
    path.write_text(ABSTAINS, encoding="utf-8")
    study.config["questions"] = ["my_questions:Abstains"]
    study.write_config()
    on_slurm = study.snakemake("--dry-run", "--profile", "profiles/slurm", "--printshellcmds").stdout
    assert on_slurm.count(" ask_abstains: dataset") == 1
    study.snakemake("plan")
    planned = pl.read_csv(study.results / "plan.csv").filter(job="ask_abstains")
    assert len(planned) == 1 and (planned["of_answers_to_come"] == 0).all()

    made = jobs_of(study.snakemake("report", *targets("exported")))
    own = {"ask_abstains": 1, "read_abstains": 3, "write_page": 1}
    assert {rule: made[rule] for rule in own} == own and "generate_answers" not in made
    folder = study.results / "small/abstains/demo-lm"
    table = pl.read_parquet(folder / "bm25.parquet")
    answers = [pl.read_parquet(path) for path in (study.results / "small/answers/demo-lm/bm25").rglob("seed*.parquet")]
    assert len(table) == len(pl.concat(answers).drop_nulls("answer"))
    assert table["abstains"].is_between(0, 1, closed="none").all()
    receipt = json.loads((study.results / "small/asked/ask_abstains/demo-lm.json").read_text())
    assert [receipt["made"]] == planned["to_make"].to_list() and len(receipt["parts"]) == 3

    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    section = page.split('id="questions"')[1].split("</details>")[0]
    assert "The probability of yes when the generator is asked" in section and "mean abstains" in section
    assert f"<td>bm25</td><td>{len(table)}</td><td>{table['abstains'].mean():.3f}</td>" in section
    for check in of_annexes("check_added_question"):
        told = "each answer’s probability; written by the rule read_abstains"
        check(study.results, "small/abstains/demo-lm/rel.parquet", told)
    lines = study.snakemake("status").stdout.splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if "| small " in line]
    states = [(row[3], row[5], row[-2]) for row in rows if row[4] == "ask_abstains"]
    assert states == [("", f"{receipt['asked']:,}", "done")]

    assert study.planned() == {}
    path.write_text(ABSTAINS.replace("yes or no:", "no or yes:"), encoding="utf-8")
    assert {rule: n for rule, n in study.planned().items() if rule in own} == own
