"""The small study with every optional part, judges, lists and labels from files, exports and a comparison as well."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.support.sandbox import Sandbox

TARGETS = ("erag", "acu", "reproduce", "predict", "export", "compare", "report")
IMPORTED = "results/small/small/utility/minilm/theirs.parquet"
"""Made of imported answers."""
NUGGETS: dict[str, list[str]] = {"q01": ["a fact", "another"], "q02": ["a third"]}
JUDGE = {"model": "resources/demo/model", "dtype": "float32", "prompt": "tian2025"}
SCORERS: dict[str, Any] = {
    "by_hand": {"kind": "nuggets", "generator": "judge", "path": "nuggets.jsonl"},
    "written": {"kind": "nuggets", "generator": "judge", "written_by": "writer", "list_tokens": 100, "depth": 2},
    "checked": {"kind": "llm_judge", "generator": "demo-lm", "references": "none", "bias_checks": 5},
}
SOURCES: dict[str, Any] = {
    "grades": {"kind": "graded_llm", "generator": "demo-lm", "bias_checks": 5},
    "people": {"kind": "file", "path": "people.qrels"},
    "erag": {"scorer": "minilm"},
}
RARE = (
    "compare",
    "results/small/small/annotations/pages/gold.parquet",
    "results/small/report/figures/scatter_small_demo-lm_minilm_k1.svg",
)
"""Made by rules that no other study runs."""
EARLIER = "earlier"
"""Name of the study that this one is compared with: itself, before the additions."""


def everything_study(optional: Sandbox, folder: Path) -> Sandbox:
    """Run it in ``folder``."""
    study = optional.copied_to(folder)
    shutil.copytree(study.results, study.results.with_name(EARLIER))
    study.config["compare"] = {"before": EARLIER, "after": study.config["study"]}
    add_everything(study)
    study.snakemake("plan")
    study.snakemake(*TARGETS)
    return study


def add_everything(study: Sandbox) -> None:
    """Add keys and files of what the optional study has not: judges, lists and labels from files."""
    lists = [
        json.dumps({"qid": qid, "nuggets": [{"text": text, "importance": "vital"} for text in texts]})
        for qid, texts in NUGGETS.items()
    ]
    (study.folder / "nuggets.jsonl").write_text("\n".join(lists) + "\n", encoding="utf-8")
    shutil.copy(study.collection / "qrels.txt", study.folder / "people.qrels")
    config = study.config
    config["generators"] = {**config["generators"], "judge": JUDGE, "writer": JUDGE}
    config |= {"scorers": SCORERS, "annotations": SOURCES}
    config["acu"] = {**config["acu"], "evidence_judge": "judge"}
    grid = config["grid"]
    config["grid"] = {
        **grid,
        "scorers": [*grid["scorers"], *SCORERS],
        "annotations": [*grid["annotations"], "grades", "people"],
    }
    study.write_config()


def imported_study(finished: Sandbox, folder: Path) -> Sandbox:
    """The small study with its own answers as those of a generator ``theirs``, imported from a file of rows."""
    study = finished.copied_to(folder)
    study.snakemake("results/small/export/small/demo-lm/answers.jsonl")
    (study.folder / "answers").mkdir()
    shutil.copy(study.results / "export/small/demo-lm/answers.jsonl", study.folder / "answers/small.jsonl")
    config = study.config
    theirs = {"engine": "file", "path": "answers/{dataset}.jsonl"}
    config["generators"] = {**config["generators"], "theirs": theirs}
    config["grid"] = {**config["grid"], "generators": ["demo-lm", "theirs"]}
    study.write_config()
    study.snakemake(IMPORTED)
    return study


def rare_study(finished: Sandbox, folder: Path) -> Sandbox:
    """The small study with titles and gold pages, its figures at the smaller k, and a comparison of two others."""
    study = finished.copied_to(folder)
    for name in (EARLIER, "later"):
        shutil.copytree(study.results, study.results.with_name(name))
    passages = study.collection / "passages.jsonl"
    records = [json.loads(line) for line in passages.read_text(encoding="utf-8").splitlines()]
    titled = [json.dumps({**record, "title": f"page {place % 3}"}) for place, record in enumerate(records)]
    passages.write_text("\n".join(titled) + "\n", encoding="utf-8")
    qids = [line.split("\t")[0] for line in (study.collection / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    pages = [json.dumps({"id": qid, "input": "", "output": [{"provenance": [{"title": "page 1"}]}]}) for qid in qids]
    (study.folder / "pages.jsonl").write_text("\n".join(pages) + "\n", encoding="utf-8")
    config = study.config
    config["annotations"] = {"gold": {"kind": "provenance", "path": "pages.jsonl"}}
    config["compare"] = {"before": EARLIER, "after": "later"}
    config["grid"] = {**config["grid"], "annotations": ["gold"]}
    study.write_config()
    study.snakemake(*RARE)
    return study
