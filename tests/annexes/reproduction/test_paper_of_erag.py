"""eRAG's study, config/salemi2024.yaml and its part on Wizard of Wikipedia, with small files in KILT's format."""

import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from ragrelay.collection import kilt
from snakemake.utils import update_config

from tests.annexes.reproduction.places import missing_places
from tests.dag.test_docs import BY_PAGE
from tests.support.forked_python import run_snakemake
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.study

PAGES = 12


def write_kilt(folder: Path) -> None:
    """Two tasks, a query per page of 210 words, in which the demo's passages make up the text."""
    lines = (ROOT / "resources/demo/collection/passages.jsonl").read_text(encoding="utf-8").splitlines()
    words = " ".join(json.loads(line)["text"] for line in lines).split()
    pages, tasks = [], {"nq": [], "wow": []}
    for number in range(PAGES):
        own = words[300 * number : 300 * number + 210]
        title = " ".join(own[:3])
        pages.append({"wikipedia_id": str(number), "wikipedia_title": title, "text": [title, " ".join(own)]})
        gold = [{"wikipedia_id": str(number), "title": title}]
        for name, answer in (("nq", own[5]), ("wow", " ".join(own[20:40]))):
            output = [{"answer": answer, "provenance": gold}]
            tasks[name].append({"id": f"{name}{number}", "input": " ".join(own[8:16]), "output": output})
    for name, records in {"knowledge": pages, **tasks}.items():
        text = "".join(f"{json.dumps(one)}\n" for one in records)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    kilt.make_datasets(folder / "knowledge.jsonl", {name: folder / f"{name}.jsonl" for name in tasks}, folder / "kilt")


@pytest.mark.parametrize(
    ("task", "overlays"),
    [pytest.param("nq", ("salemi2024",), marks=pytest.mark.full), ("wow", ("salemi2024", "salemi2024_wow"))],
)
def test_the_study_runs_and_is_compared(tmp_path: Path, task: str, overlays: tuple[str, ...]) -> None:
    study = Sandbox(tmp_path / "study")
    write_kilt(study.folder)
    config: dict = {"generators": study.config["generators"], "analysis": {"resamples": 200}}
    for name in overlays:
        update_config(config, yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")))
    small = {"datasets": [f"kilt_{task}"], "retrievers": ["bm25"], "k": [2], "generators": ["demo-lm"]}
    update_config(config, {"grid": small, "annotations": {"mistral": {"generator": "demo-lm"}}, "annotation_depth": 2})
    config["datasets"][f"kilt_{task}"]["shards"] = 1
    study.config = config
    study.write_config()
    study.snakemake("reproduce")
    assert missing_places("Salemi and Zamani 2024", "reproduce", study.results, f"{overlays[-1]}.yaml") == []
    rows = pl.read_csv(study.results / "reproduction/rows.csv")
    assert set(rows["paper"]) == {"Salemi and Zamani 2024"} and "Figure 1" in rows["item"]
    assert "annotation_readers" in (study.results / "report/index.html").read_text(encoding="utf-8")
    labels = pl.read_csv(study.results / "reproduction/labels.csv").filter(coefficient="kendall")
    sources = {"nq": {"containment", "qrels", "mistral", "erag_binary"}, "wow": {"qrels", "mistral", "erag"}}[task]
    assert set(labels["source"]) == sources and labels["published"].is_not_null().all()
    of_erag = labels.filter(pl.col("source").str.starts_with("erag"))
    assert set(of_erag["measure"]) == (
        {"P", "Success"} if task == "wow" else set(config["grid"]["annotation_measures"])
    )
    scorer = config["grid"]["scorers"][0]
    folder = study.results / f"kilt_{task}"
    made = pl.read_parquet(folder / f"annotations/labels/{scorer}/demo-lm/labels.parquet")
    gold = made.filter(source="qrels", label=1)
    assert gold.height and all(
        docno.split("-")[0] == qid.removeprefix(task) for qid, docno in gold["qid", "docno"].rows()
    )


def test_without_files(tmp_path: Path) -> None:
    """The overlay of docs/reproduce-salemi-2024.md after the paper's configuration: NQ and TriviaQA of ir_datasets."""
    study = Sandbox(tmp_path / "study")
    [overlay] = [block.content for block in BY_PAGE["docs/reproduce-salemi-2024.md"] if block.file == "my-erag.yaml"]
    (study.folder / "my-erag.yaml").write_text(overlay, encoding="utf-8")
    asked = ["--dry-run", "--cores", "2", "reproduce", "--configfile", "config/salemi2024.yaml", "my-erag.yaml"]
    done = run_snakemake(study.folder, asked, study.environment())
    assert done.returncode == 0, (done.stdout + done.stderr)[-2500:]
