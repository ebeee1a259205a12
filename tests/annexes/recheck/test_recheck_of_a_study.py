"""Stored answers of a study made again by its engine: bit-identical on the same machine, and counted if not."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.recheck.comparison import COLUMNS
from ragrelay.annexes.recheck.scores import COLUMNS as SCORES
from ragrelay.annexes.recheck.summary import COLUMNS as SUMMARY
from ragrelay.base.io.part_index import NAME as INDEX
from ragrelay.base.vocabulary.columns import read_table, schema_of
from ragrelay.generation.store import SCHEMA, AnswerStore

from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_for

SHOWN = {"gather_provenance", "write_tables", "write_page", "report"}
"""The jobs after which the page shows a recheck."""
LISTED = {"report/pages.js", "report/facts.json"}
"""The list of the page's parts, and what it says, which have one more then."""
MARGIN = 0.02


def stores(study: Sandbox) -> dict[Path, bytes]:
    """Every file of the stores of answers and scores but their indexes, which know parts by inode."""
    folders = (study.folder / "cache/answers", study.folder / "cache/scores")
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != INDEX]
    return {path: path.read_bytes() for path in files}


def test_the_machine_that_made_them_makes_them_again(copied: Callable[[], Sandbox]) -> None:
    """All bit-identical, P the same; neither the stores nor the study's files change, and the next page says so."""
    study = copied()
    before, files = stores(study), study.contents()
    said = study.snakemake("recheck").stdout
    n = study.distinct_keys()
    assert f"All {n} regenerated answers are bit-identical to the stored ones." in said
    assert f"small · demo-lm: all {n} regenerated answers" in said
    assert stores(study) == before and study.contents() == files
    rows = read_table(study.results / "recheck/recheck.csv", SUMMARY)
    assert rows.columns == list(SUMMARY) and rows["scorer"].to_list() == study.config["grid"].get("scorers", ["minilm"])
    assert set(rows["n_stored"]) == set(rows["n"]) == set(rows["n_equal"]) == {n}
    assert rows["mean_difference"].to_list() == [0.0] * len(rows) and set(rows["n_flips"]) == {0}
    assert rows["p_then"].is_between(0.01, 0.99).any()
    folder = study.results / "recheck/small/demo-lm"
    assert pl.read_parquet_schema(folder / "answers.parquet") == schema_of(COLUMNS)
    assert pl.read_parquet_schema(folder / "scores/minilm.parquet") == schema_of(SCORES)
    receipt = json.loads((folder / "receipt.json").read_text())
    assert receipt["then"]["engines"] == receipt["now"]["engines"] and receipt["now"]["processor"]
    assert receipt["then"]["settings"] == receipt["now"]["settings"]

    assert set(study.planned()) == SHOWN, "what shows a recheck asks for none"
    study.snakemake()
    record = json.loads((study.results / "recheck/recheck.json").read_text())
    assert json.loads((study.results / "report/provenance.json").read_text())["recheck"] == record
    page = re.sub(r"<[^>]+>", " ", (study.results / "report/index.html").read_text(encoding="utf-8"))
    assert f"All {n} regenerated answers are bit-identical to the stored ones" in page
    assert study.planned() == {}
    after = study.contents()
    assert {name for name in files if after[name] != files[name]} == LISTED and after.keys() == files.keys()
    assert set(study.planned("recheck")) == {"recheck_answers", "score_recheck", "recheck"}, "asked for, made again"


@pytest.mark.full
def test_answers_that_were_changed_are_counted(copied: Callable[[], Sandbox]) -> None:
    """Those of seed 1 are replaced by those of seed 2 in the store: what then differs is known."""
    study = copied()
    [folder] = (study.folder / "cache/answers").iterdir()
    store = AnswerStore(study.folder / "cache", folder.name)
    metadata = store.metadata(store.parts()[0])
    rows = store.scan(store.parts(), list(SCHEMA)).collect().drop("part").unique(["prompt_id", "seed"])
    first, second = (rows.filter(seed=seed).sort("prompt_id") for seed in (1, 2))
    assert first["prompt_id"].to_list() == second["prompt_id"].to_list()
    shutil.rmtree(folder)
    AnswerStore(study.folder / "cache", folder.name).add(
        pl.concat([second, second.with_columns(seed=pl.lit(1, pl.Int64))]),
        {name: value for name, value in metadata.items() if name != "written"},
    )
    study.config["recheck"] = {"answers": 30}
    study.write_config()
    said = study.snakemake("recheck").stdout

    drawn = pl.read_parquet(study.results / "recheck/small/demo-lm/answers.parquet")
    compared = ["answer", "finish_reason", "prompt_tokens", "answer_tokens"]
    same = (first.select(compared).rows()[place] == row for place, row in enumerate(second.select(compared).rows()))
    of_prompt = dict(zip(first["prompt_id"], same, strict=True))
    expected = [seed == 2 or of_prompt[prompt_id] for prompt_id, seed in drawn.select("prompt_id", "seed").iter_rows()]
    assert drawn["equal"].to_list() == expected and drawn.height == 30 and 0 < sum(expected) < 30
    assert f"{sum(expected)} of 30 regenerated answers (drawn from {len(rows)}) are bit-identical" in said
    assert f"small · demo-lm: {sum(expected)} of 30 regenerated answers" in said and "demo-lm: all" not in said
    assert "A second regeneration on this machine, in two halves, changed none of the answers." in said
    scores = pl.concat(
        pl.read_parquet(path).with_columns(retriever=pl.lit(path.stem)).filter(references="lenient")
        for path in (study.results / "small/scores/minilm/demo-lm").glob("*.parquet")
    )
    cell = ["qid", "retriever", "ordering", "k"]
    pairs = [
        drawn.filter(seed=1).join(scores.filter(seed=seed), on=cell, how="inner").sort("prompt_id") for seed in (2, 1)
    ]
    moved = (pairs[1]["f1"] - pairs[0]["f1"]).abs()
    row = read_table(study.results / "recheck/recheck.csv", SUMMARY).row(0, named=True)
    assert moved.len() == drawn.filter(seed=1).height
    assert row["n_flips"] == (moved > MARGIN).sum() > 0 and row["margin"] == MARGIN
    assert f"{row['n_flips']} of 30 scores changed by more than 0.020" in said
    assert row["p_now"] - row["p_then"] == pytest.approx(row["mean_difference"]) and row["mean_difference"] != 0


@pytest.mark.full
def test_killed_half_way_it_leaves_nothing_and_begins_again(copied: Callable[[], Sandbox]) -> None:
    study = copied()
    study.config["recheck"] = {"answers": 12}
    study.write_config()
    log = study.folder / "logs/small/recheck_answers/small/demo-lm.log"
    process = study.start("recheck")
    wait_for("the draw", lambda: log.is_file() and "12 of " in log.read_text(encoding="utf-8"), 600)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert [path for path in (study.results / "recheck").rglob("*") if path.is_file()] == []
    study.snakemake("--unlock")
    assert "All 12 regenerated answers (drawn from " in study.snakemake("recheck").stdout


def test_imported_answers_are_named_and_start_no_engine(copied: Callable[[], Sandbox]) -> None:
    study = copied()
    (study.folder / "answers").mkdir()
    rows = [{"qid": "q01", "answer": "an answer", "seed": 1}]
    (study.folder / "answers/small.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    theirs = {"engine": "file", "path": "answers/{dataset}.jsonl"}
    study.config["generators"] = {**study.config["generators"], "theirs": theirs}
    grid = study.config["grid"]
    study.config["grid"] = {**grid, "generators": ["demo-lm", "theirs"]}
    study.write_config()
    assert study.planned("recheck")["recheck_answers"] == 1
    study.config["grid"] = {**grid, "generators": ["theirs"]}
    study.write_config()
    assert set(study.planned("recheck")) == {"recheck"}
    said = study.snakemake("recheck").stdout
    assert "Answers from files cannot be regenerated.\n" in said
    assert "theirs: answers from files cannot be regenerated.\n" in said
    assert read_table(study.results / "recheck/recheck.csv", SUMMARY).is_empty()
