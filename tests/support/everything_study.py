"""The small study with every optional part, judges and lists from files, and what annexes add to it."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from tests.support.annex_cases import add_of_annexes, targets
from tests.support.optional_study import TARGETS as OPTIONAL_TARGETS
from tests.support.sandbox import Sandbox

MADE_AFTER = (*OPTIONAL_TARGETS, *targets("exported"))
"""Targets that can be made again after any change."""
TARGETS = (*MADE_AFTER, *targets("compared"))
IMPORTED = "results/small/small/utility/minilm/theirs.parquet"
"""Made of imported answers."""
NUGGETS: dict[str, list[str]] = {"q01": ["a fact", "another"], "q02": ["a third"]}
JUDGE = {"model": "resources/demo/model", "dtype": "float32", "prompt": "tian2025"}
SCORERS: dict[str, Any] = {
    "by_hand": {"kind": "nuggets", "generator": "judge", "path": "nuggets.jsonl"},
    "written": {"kind": "nuggets", "generator": "judge", "written_by": "writer", "list_tokens": 100, "depth": 2},
    "checked": {"kind": "llm_judge", "generator": "demo-lm", "references": "none", "bias_checks": 5},
}
RARE = ("results/small/report/figures/scatter_small_demo-lm_minilm_k1.svg", *targets("rare"))
"""Made by rules that no other study runs."""


def everything_study(optional: Sandbox, folder: Path) -> Sandbox:
    """Run it in ``folder``."""
    study = optional.copied_to(folder)
    add_of_annexes(study, "compared")
    add_everything(study)
    study.snakemake("plan")
    study.snakemake(*TARGETS)
    return study


def add_everything(study: Sandbox) -> None:
    """Add keys and files of what the optional study has not: judges and lists of nuggets, and what annexes add."""
    lists = [
        json.dumps({"qid": qid, "nuggets": [{"text": text, "importance": "vital"} for text in texts]})
        for qid, texts in NUGGETS.items()
    ]
    (study.folder / "nuggets.jsonl").write_text("\n".join(lists) + "\n", encoding="utf-8")
    config = study.config
    config["generators"] = {**config["generators"], "judge": JUDGE, "writer": JUDGE}
    config["scorers"] = SCORERS
    config["grid"] = {**config["grid"], "scorers": [*config["grid"]["scorers"], *SCORERS]}
    add_of_annexes(study, "everything")
    study.write_config()


def imported_study(finished: Sandbox, folder: Path) -> Sandbox:
    """The small study with its own answers as those of a generator ``theirs``, imported from a file of rows."""
    study = finished.copied_to(folder)
    (study.folder / "answers").mkdir()
    answers = study.results / "small/answers/demo-lm"
    with (study.folder / "answers/small.jsonl").open("w", encoding="utf-8") as file:
        for path in sorted(answers.rglob("seed*.parquet")):
            retriever, ordering, k, seed = path.relative_to(answers).with_suffix("").parts
            cell = {"retriever": retriever, "ordering": ordering, "k": int(k[1:]), "seed": int(seed[4:])}
            for row in pl.read_parquet(path, columns=["qid", "answer"]).drop_nulls().iter_rows(named=True):
                file.write(json.dumps({**row, **cell}) + "\n")
    config = study.config
    theirs = {"engine": "file", "path": "answers/{dataset}.jsonl"}
    config["generators"] = {**config["generators"], "theirs": theirs}
    config["grid"] = {**config["grid"], "generators": ["demo-lm", "theirs"]}
    study.write_config()
    study.snakemake(IMPORTED)
    return study


def rare_study(finished: Sandbox, folder: Path) -> Sandbox:
    """The small study with its figures at the smaller k, and what annexes add."""
    study = finished.copied_to(folder)
    add_of_annexes(study, "rare")
    study.write_config()
    study.snakemake(*RARE)
    return study
