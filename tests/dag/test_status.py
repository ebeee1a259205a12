"""`snakemake status` in a folder in which another run is at work."""

import json
from pathlib import Path

from tests.support.hostile_text import CODES, only_text
from tests.support.sandbox import Sandbox

BEGUN = "2025-03-01 12:00:00,000 INFO ragrelay.generation.job: 32 answers needed, 8 cached, 24 to generate\n"
FAILED = "2025-03-01 12:00:00,000 ERROR root: small/passages.jsonl, line 2: found a number; expected an object\n"
TRACE = FAILED + f"Traceback (most recent call last):\n\x1b[31mValueError: {CODES}\n"


def test_a_look_at_a_run(tmp_path: Path) -> None:
    """Receipts and logs where the rules have them; the lock of the run stays, which without it would be deleted."""
    study = Sandbox(tmp_path / "study")
    study.config["datasets"]["small"]["shards"] = 2
    study.write_config()
    lock = study.folder / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/small/small/runs/bm25.run.gz\nresults/small/report/index.html\n")
    receipt = study.results / "small/generated/demo-lm/shard0.json"
    receipt.parent.mkdir(parents=True)
    receipt.write_text(json.dumps({"asked": 16, "cached": 0, "made": 16, "generate_seconds": 4.0}))
    logs = study.folder / "logs/small"
    for name, text in {
        "generate_answers/small/demo-lm/shard1.log": BEGUN,
        "index_corpus/small/pisa-1.log": FAILED,
        "index_corpus/small/bm25s-1.log": TRACE,
        "build_run/small/removed.log": FAILED,
    }.items():
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text(text)
    benchmark = study.results / "benchmarks/build_run/small/bm25.tsv"
    benchmark.parent.mkdir(parents=True)
    benchmark.write_text("s\th:m:s\tmax_rss\n2400\t0:40:00\t4000.0\n")
    done = study.snakemake("status", "--set-resources", "build_run:runtime=attempt*90")
    assert "| requested (min) |" in done.stdout and " 90 |" in done.stdout
    assert "  build_run:\n    runtime: attempt * 60\n    mem_mb: attempt * 5200\n" in done.stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "demo-lm" in line]
    assert [(row[2], *row[4:8], row[-1]) for row in rows] == [
        ("", "48", "8", "16", "24", "silent"),
    ]
    trace, *told = done.stdout.partition("Failed jobs:\n")[2].strip().splitlines()
    assert trace == r"logs/small/index_corpus/small/bm25s-1.log: \u202eevil\x9b1A\x08"
    assert only_text(done.stdout + done.stderr)
    assert told[0].strip() == f"logs/small/index_corpus/small/pisa-1.log: {FAILED.partition('root: ')[2].strip()}"
    assert "removed" not in done.stdout
    assert lock.exists()
    refused = study.snakemake("all_runs", check=False)
    assert refused.returncode and "cannot be locked" in refused.stdout + refused.stderr
