"""Bad data ends a run in one line per fault, before any engine is started, with nothing half-written.

Every kind of bad input: tests/support/bad_input_cases.py. Here, what a user sees of some of them on the terminal.
"""

import shutil
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox

FAULTS = {
    "queries": ("queries.tsv", "q99 no tab", "found no tab; expected qid<TAB>text"),
    "passages": ("passages.jsonl", "{", "found invalid JSON"),
    "qrels": ("qrels.txt", "q01 0 d1", "found 3 columns; expected 4"),
    "run": ("mine.run", "q01 Q0 d011 2 nan tag", "found score 'nan'; expected a finite number"),
    "label": ("qrels.txt", "q01 0 d1 high", "found label 'high'; expected an integer"),
}


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A study with a dataset per fault: a copy of the small one with one line too many."""
    study = Sandbox(tmp_path_factory.mktemp("spoilt") / "study")
    for name, (file, line, _) in FAULTS.items():
        folder = study.folder / name
        shutil.copytree(study.collection, folder)
        (folder / "mine.run").write_text("q01 Q0 d011 1 1.5 tag\n")
        with (folder / file).open("a", encoding="utf-8") as opened:
            opened.write(line + "\n")
        study.config["datasets"][name] = {**study.config["datasets"]["small"], "path": name}
    study.config["retrievers"] = {"mine": {"kind": "run", "path": "{dataset}/mine.run"}}
    study.config["grid"] = {**study.config["grid"], "datasets": [*FAULTS], "retrievers": ["mine", "rel"]}
    study.write_config()
    return study


def test_malformed_lines(spoilt: Sandbox) -> None:
    done = spoilt.snakemake("--keep-going", check=False)
    output = (done.stdout + done.stderr).splitlines()
    assert done.returncode != 0
    told = [line.removeprefix("ragrelay: error: ") for line in output if line.startswith("ragrelay: error:")]
    assert len(told) == len(FAULTS)
    for name, (file, _, expected) in FAULTS.items():
        assert [line for line in told if line.startswith(f"{name}/{file}, line ") and expected in line], name
    at_the_end = output[output.index("Fix this:") + 1 :]
    assert {line.strip() for line in at_the_end[: len(FAULTS)]} == set(told)
    assert not any("Traceback" in line for line in output)
    assert not list(spoilt.results.rglob("*.parquet")), "nothing was made of a bad dataset, and no engine was started"
    assert not list(spoilt.folder.rglob(".tmp-*")) and not (spoilt.folder / "cache/answers").exists()


def test_corrected_errors_are_not_told_again(spoilt: Sandbox) -> None:
    """A later run tells of its own errors alone, though the logs of earlier ones still lie there."""
    study = spoilt
    for name in FAULTS.keys() - {"label"}:
        shutil.copytree(study.collection, study.folder / name, dirs_exist_ok=True)
        (study.folder / name / "mine.run").write_text("q01 Q0 d011 1 1.5 tag\n")
    done = study.snakemake(
        "--keep-going", *(f"results/small/{name}/collection/queries.parquet" for name in FAULTS), check=False
    )
    output = (done.stdout + done.stderr).splitlines()
    place = output.index("Fix this:")
    assert output[place + 1].strip().startswith("label/qrels.txt, line ") and not "".join(output[place + 2 :]).strip()


def test_unusable_configuration(tmp_path: Path) -> None:
    """One line says so on the terminal, with no word of Snakemake's or Python's around it."""
    study = Sandbox(tmp_path / "study")
    study.config["grid"] = {**study.config["grid"], "retreivers": ["bm25"]}
    study.write_config()
    done = study.snakemake(check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "ragrelay: error: config key 'grid': found unknown key 'retreivers'; "
    )
    assert done.stderr.splitlines()[-1].endswith("; did you mean 'retrievers'?")
    assert not [word for word in ("Traceback", "Error", "common.smk") if word in done.stdout + done.stderr]
    assert not study.results.exists() and not (study.folder / "cache").exists()
