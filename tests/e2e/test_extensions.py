"""Another lab's package adds a retriever, a scorer and an annex by its entry points; an edit reruns its users."""

import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.support.sandbox import ROOT, Sandbox, jobs_of

SCORED = {"encode_references", "score_answers", "score_zeroshot_answers", "compute_utility", "analyse_transmission"}


class WithPackages(Sandbox):
    """A study in an environment that has the packages in ``packages``, too."""

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PYTHONPATH": str(self.packages)}


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> WithPackages:
    """The small study with the three, run to its page."""
    folder = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "tests/support/a_lab", folder / "source")
    shutil.copytree(finished.folder, folder / "study", symlinks=True)
    extended = WithPackages.at(folder / "study")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", extended.packages, folder / "source"], check=True)
    extended.config["grid"] |= {"retrievers": ["bm25", "again", "rel", "nrel"], "scorers": ["brief"]}
    extended.config["retrievers"] = {"again": {"kind": "again", "of": "bm25"}}
    extended.config["scorers"] = {"brief": {"kind": "brevity", "most": 3}}
    extended.write_config()
    extended.snakemake()
    return extended


def scores(study: Sandbox, retriever: str) -> pl.DataFrame:
    files = sorted(study.results.glob(f"small/scores/brief/demo-lm/{retriever}.parquet"))
    return pl.concat(map(pl.read_parquet, files)).drop("retriever", strict=False)


def edited(study: WithPackages, module: str, before: str, after: str) -> dict[str, int]:
    """The jobs that run after an edit of the installed module, as of an editable installation."""
    path = study.packages / "a_lab" / module
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")
    return study.planned()


def test_a_study_with_all_three(study: WithPackages) -> None:
    """The retriever repeats BM25's contexts, so that no answer is made."""
    assert study.answers_made() == 0
    assert scores(study, "again").equals(scores(study, "bm25"))
    counts = pl.read_csv(study.results / "small/openings/demo-lm.csv")
    assert counts.columns == ["dataset", "generator", "word", "answers"] and counts["answers"].sum() > 0
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    top = counts.row(0, named=True)
    assert f"small, demo-lm: {top['answers']} answers begin with “{top['word']}”." in page
    assert study.planned() == {}


def test_an_edit_reruns_what_uses_it(study: WithPackages) -> None:
    """The scorer's helper: scores and all after them, and the cached scores don't serve. The annex: its table alone."""
    before = scores(study, "bm25")
    planned = edited(study, "words.py", "len(text.split())", "2 * len(text.split())")
    assert planned.keys() >= SCORED and planned["score_answers"] == 4
    assert not planned.keys() & {"build_run", "build_contexts", "generate_answers", "count_openings"}
    study.snakemake()
    assert not scores(study, "bm25").equals(before)
    assert edited(study, "openings/counts.py", '.len("answers")', '.len(name="answers")').keys() <= {
        "count_openings", "write_page", "report",
    }  # fmt: skip
    planned = edited(study, "again.py", '"qid", "docno", "score"', '["qid", "docno", "score"]')
    assert planned["build_run"] == 1 and "index_corpus" not in planned


def test_a_mistake_is_one_line(study: WithPackages) -> None:
    """The scorer's field has bounds, as a field of ragrelay's kinds."""
    study.config["scorers"]["brief"]["most"] = 0
    study.write_config()
    done = study.snakemake("--dry-run", check=False)
    assert "ragrelay: error: config key 'scorers.brief.most': found 0; expected at least 1\n" in done.stderr
    assert jobs_of(done) == {}
