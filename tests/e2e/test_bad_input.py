"""Bad data ends a run in one line that names the place, before any engine is started, with nothing half-written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox import Sandbox


def add_line(name: str, line: str) -> Callable[[Sandbox], None]:
    def change(study: Sandbox) -> None:
        with (study.collection / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return change


BAD = {
    "queries": (add_line("queries.tsv", "q99 no tab"), "queries.tsv, line 9: found no tab; expected qid<TAB>text"),
    "passages": (add_line("passages.jsonl", "{"), "passages.jsonl, line"),
    "qrels": (add_line("qrels.txt", "q01 0 d1"), "found 3 columns; expected 4"),
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_line(case: str, tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    change, expected = BAD[case]
    change(study)
    done = study.snakemake(check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ragrelay: error:")]
    assert done.returncode != 0
    assert len(lines) == 1
    assert expected in lines[0]
    assert not list(study.results.rglob("*.parquet"))
    assert not list(study.results.rglob(".tmp-*"))
    assert not (study.folder / "cache/answers").exists()


def test_malformed_run_file(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    (study.folder / "mine.run").write_text("q01 Q0 d001 1 nan tag\n")
    study.config["retrievers"] = {"mine": {"kind": "run", "path": "mine.run"}}
    study.config["grid"] = {**study.config["grid"], "retrievers": ["mine", "rel"]}
    study.write_config()
    done = study.snakemake(check=False)
    assert "mine.run, line 1: found score 'nan'; expected a finite number" in done.stdout + done.stderr
    assert not (study.folder / "cache/answers").exists()
