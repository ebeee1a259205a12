"""The container's steps, in a bare Debian: the environment that they make runs a study to its report.

No image can be fetched here. tests/support/bare_root.py runs the Dockerfile's steps by chroot instead.
"""

import re
import shutil
from pathlib import Path

import pytest

from tests.support.bare_root import BareRoot, steps
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.full


def test_the_steps_make_an_environment_that_runs_a_study(tmp_path: Path) -> None:
    """`make setup` has nothing left to do, the image's command plans a whole run, and a cut of the demo is run."""
    base = steps(ROOT / "Dockerfile")[0][1]
    root = BareRoot(tmp_path / "root", base)
    root.build(ROOT / "Dockerfile")
    left = root.run("make --dry-run setup")
    assert left.returncode == 0 and "make_environment" not in left.stdout, left.stdout + left.stderr
    planned = root.run(f"{' '.join(root.command)} --dry-run")
    assert planned.returncode == 0 and "generate_answers" in planned.stdout + planned.stderr
    study = Sandbox(tmp_path / "study", queries=2)
    config = study.config | {"grid": {**study.config["grid"], "retrievers": ["bm25"], "k": [1], "seeds": [1]}}
    study.config = config | {"analysis": {**study.config["analysis"], "reference_retriever": "bm25"}}
    study.write_config()
    (root.folder / "study").mkdir()
    root.place = "/study"
    shutil.copytree(study.folder, root.folder / "study", dirs_exist_ok=True, symlinks=True)
    done = root.run("snakemake --cores 2 --configfile small.yaml")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert (root.folder / "study/results/small/report/index.html").stat().st_size > 100_000


def test_apptainers_recipe_takes_the_image_that_the_docs_build() -> None:
    recipe = (ROOT / "apptainer.def").read_text(encoding="utf-8")
    (image,) = re.findall(r"IMAGE=(\S+):latest", recipe)
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    assert f"-t {image} ." in page and "apptainer build ragrelay.sif apptainer.def" in page
