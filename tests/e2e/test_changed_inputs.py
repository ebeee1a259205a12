"""A file of the user's changes during a run, which says so; the next run reads it again, even if it is the old one."""

import os
from collections.abc import Callable

from tests.support.sandbox import Sandbox, jobs_of

OWN = """
from pathlib import Path

import pyterrier as pt


def pipeline(corpus, index):
    Path("mine.run").write_text("q01 Q0 {docno} 1 2.0 x\\n")
    return pt.apply.doc_score(lambda row: 1.0)
"""
OWN_RUN = "results/small/small/runs/own.run.gz"
RUN = "results/small/small/runs/mine.run.gz"
CONTEXTS = "results/small/small/contexts/mine.parquet"
TOLD = "ragrelay: mine.run: changed during this run; run the same command again to redo what depends on it."


def test_what_was_read_of_a_file_that_changed_is_made_again(copied: Callable[[], Sandbox]) -> None:
    study = copied()
    judged = (study.collection / "qrels.txt").read_text(encoding="utf-8").split()
    run = study.folder / "mine.run"
    run.write_text(f"q01 Q0 {judged[2]} 1 1.0 x\n")
    before, stat = run.read_bytes(), run.stat()
    (study.folder / "own.py").write_text(OWN.format(docno=judged[6]), encoding="utf-8")
    own = {"kind": "pyterrier", "pipeline": "own:pipeline", "first_stage": "bm25", "depth": 2}
    study.config["retrievers"] = {"mine": {"kind": "run", "path": "mine.run"}, "own": own}
    grid = study.config["grid"]
    study.config["grid"] = {**grid, "retrievers": [*grid["retrievers"], "mine", "own"]}
    study.write_config()

    study.snakemake(CONTEXTS)
    first = (study.folder / CONTEXTS).read_bytes()
    # One job at a time, first the one whose pipeline changes the run file.
    done = study.snakemake(OWN_RUN, CONTEXTS, "--cores", "1", "--prioritize", OWN_RUN, "--forcerun", RUN)
    assert jobs_of(done)["build_run"] == 2
    assert TOLD in done.stderr.splitlines()
    assert (study.folder / CONTEXTS).read_bytes() != first
    run.write_bytes(before)
    os.utime(run, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert study.planned(OWN_RUN, CONTEXTS) == {"build_run": 1, "build_contexts": 1}

    done = study.snakemake(OWN_RUN, CONTEXTS)
    assert TOLD not in done.stderr
    assert (study.folder / CONTEXTS).read_bytes() == first
    assert study.planned(OWN_RUN, CONTEXTS) == {}
