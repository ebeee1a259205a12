"""Write into docs/check-a-judge.md what the page of config/judges.yaml says of its judge: python -m tools.judge_worth

From the labels in resources/demo/judges/by_smollm2.parquet, which a finished study there (results/judges) renews.
"""

import json
from pathlib import Path

import polars as pl
from ragrelay.annexes.labels.agreement import Scale, agreement_tables
from ragrelay.annexes.labels.study import AnnotationStudy, JudgeTrust
from ragrelay.annexes.labels.trust_page import trust_warnings
from ragrelay.annexes.labels.values import SCHEMA

from tools.blocks import replaced
from tools.demo_page import Demo, made_on

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "check-a-judge.md"
MARK = "<!-- the judge of the demo, by tools/judge_worth.py -->"
FOLDER = ROOT / "resources/demo/judges"
STUDY = Demo(ROOT / "results/judges", FOLDER, "smollm2", "question_first", False)
SCALES = {"people": Scale(2, True, False), "grades": Scale(2, True, True), "llm": Scale(0.5, False, True)}


def pack() -> None:
    """Keep a finished study's labels of the passages that people label, and which processor made them."""
    labels = pl.read_parquet(STUDY.tables / "annotations/labels/minilm/smollm2/labels.parquet")
    kept = labels.filter(references="lenient").join(people(), on=["qid", "docno"], how="semi")
    kept.filter(pl.col("source").is_in(["grades", "llm"])).sort("source", "qid", "docno").write_parquet(
        FOLDER / "by_smollm2.parquet", compression="zstd", compression_level=19
    )
    (FOLDER / "made_on.json").write_text(json.dumps(made_on(STUDY), indent=2) + "\n", encoding="utf-8")


def people() -> pl.DataFrame:
    """Return people's labels."""
    lines = (FOLDER / "demo.qrels").read_text(encoding="utf-8").splitlines()
    rows = [(qid, docno, float(label)) for qid, _, docno, label in map(str.split, lines)]
    return pl.DataFrame(rows, ["qid", "docno", "label"], orient="row")


def judged() -> pl.DataFrame:
    """Return the judge's labels: source, references, qid, docno, label."""
    return pl.read_parquet(FOLDER / "by_smollm2.parquet")


def text() -> str:
    """Return the page's warnings, and on what the labels were made."""
    judge = judged()
    by_people = people().select(
        source=pl.lit("people"), references=pl.lit("lenient"), qid="qid", docno="docno", label="label"
    )
    table, _ = agreement_tables(pl.concat([by_people, judge]), {}, pl.DataFrame(schema=SCHEMA), "people", SCALES)
    part = {
        name: pl.lit(value) for name, value in {"dataset": "demo", "generator": "smollm2", "scorer": "minilm"}.items()
    }
    shown = AnnotationStudy(
        "minilm", {"annotation_agreement": table.with_columns(**part)}, pl.DataFrame(), JudgeTrust(0.4)
    )
    made = json.loads((FOLDER / "made_on.json").read_text(encoding="utf-8"))
    pairs = judge.select("qid", "docno").n_unique()
    said = "\n".join(f"> {warning}\n>" for warning in trust_warnings(shown)).removesuffix("\n>")
    source = f"{made['engine']} ({made['processor']}; {made['vectors']})"
    return f"{said}\n\nThese labels for {pairs} passages were generated with {source}."


if __name__ == "__main__":
    if STUDY.page.is_file():
        pack()
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), MARK, text()), encoding="utf-8")
