"""What Snakemake and we write of files with hostile names, seen from outside."""

import os
from pathlib import Path

from tests.support.hostile_text import CODES, only_text
from tests.support.sandbox import Sandbox


def test_a_failed_job_sends_nothing_but_text(tmp_path: Path) -> None:
    """Neither our line nor Snakemake's, which names the job's inputs, nor the log that it repeats, nor our summary."""
    study = Sandbox(tmp_path / "study")
    name = CODES.replace("\r", "")
    study.collection.rename(study.folder / name)
    (study.folder / name / "queries.tsv").write_text("no tab\n", encoding="utf-8")
    study.config["datasets"]["small"]["path"] = name
    study.write_config()
    log = study.folder / "logs/small/old.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"2025-03-01 12:00:00,000 ERROR root: {name}: found a; expected b\n", encoding="utf-8")
    os.utime(log, (2**32, 2**32))
    done = study.snakemake("all_runs", "--show-failed-logs", check=False)
    said = done.stdout + done.stderr
    assert done.returncode and only_text(said), said
    shown = name.encode("unicode_escape").decode()
    for line in (f"ragrelay: error: {shown}/queries.tsv", f"    input: {shown}/", f"  {shown}: found a; expected b"):
        assert line in said, said
    [kept] = (study.folder / ".snakemake/log").glob("*.log")
    assert only_text(kept.read_text(encoding="utf-8"))
