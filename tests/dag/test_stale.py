"""The target that lists what the present configuration does not make."""

from pathlib import Path

from ragrelay.base.annex import annexes

from tests.support.hostile_text import CODES, only_text
from tests.support.sandbox import Sandbox

MADE = (
    "small/runs/bm25.run.gz",
    "small/prompts/tian2025/bm25/descending/k1.parquet",
    "small/analysis/minilm/demo-lm/gain.csv",
    "report/explorer/small_demo-lm_minilm/queries.json",
    "report/tables/cells_small_demo-lm_minilm.csv",
    "benchmarks/build_run/small/bm25.tsv",
    *(f"{kept}/one-to-two/index.html" for annex in annexes() for kept in annex.kept),
    "plan.csv",
    "plan.json",
)
STALE = (
    "small/runs/gone.run.gz",
    "small/prompts/tian2025/bm25/descending/k9.parquet",
    "other/analysis/minilm/demo-lm/gain.csv",
    "report/tables/cells_small_demo-lm_gone.csv",
)


def test_files_of_other_configurations_are_listed(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "study")
    for name in (*MADE, *STALE):
        path = sandbox.results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    odd = CODES.replace("/", "") + "\n2 \udcff"
    (sandbox.results / odd).write_text("", encoding="utf-8")
    done = sandbox.snakemake("stale")
    assert only_text(done.stdout + done.stderr)
    said = done.stdout.splitlines()
    assert len(said) == len(STALE) + 2, "nothing but the files, one a line, to be piped"
    place = said.index(r"results/small/\x1b[2J\x1b]0;title\x07\r\u202eevil\x9b1A\x08")
    assert said[place + 1] == r"2 \udcff"
    del said[place]
    listed = {line.removeprefix("results/small/") for line in said if line.startswith("results/small/")}
    assert listed == set(STALE)
    assert "Files in results/small that don't belong to the current configuration: 5" in done.stderr.splitlines()
    assert all((sandbox.results / name).exists() for name in STALE), "none is deleted"
