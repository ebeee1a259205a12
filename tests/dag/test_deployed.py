"""The workflow as a module from a hosting service, beside the package installed from a wheel; nothing is run."""

import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
import ragrelay
from ragrelay.base.annex import annexes
from ragrelay.execution.jobs.code_digest import code_digest

from tests.support.deployed import ADDRESS, SNAKEFILE, TAG, Deployed, deploy
from tests.support.rule_files import CORE_SCRIPTS, SCRIPTS
from tests.support.sandbox import ROOT, Sandbox, jobs_of


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    return deploy(tmp_path_factory.mktemp("deployed"))


def in_package(deployed: Deployed, code: str) -> str:
    """What ``code`` prints where the installed package alone is to be had, in an empty folder."""
    command = [sys.executable, "-c", code]
    empty = deployed.folder.parent / "empty"
    empty.mkdir(exist_ok=True)
    done = subprocess.run(command, cwd=empty, env=deployed.environment(), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_demo_in_an_empty_folder(deployed: Deployed) -> None:
    """The same jobs as in a checkout; its collection and model are the package's."""
    done = deployed.snakemake("--dry-run")
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    plain = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "2"]
    here = subprocess.run(
        plain, cwd=Sandbox(deployed.folder.parent / "checkout").folder, text=True, capture_output=True
    )
    assert jobs_of(done) == jobs_of(here)
    assert jobs_of(done)["generate_answers"] == 1
    assert "Using workflow specific profile profiles/default" in done.stdout + done.stderr
    assert not (deployed.folder / "resources").exists()
    assert list((deployed.folder.parent / "fetched").rglob(ADDRESS)), "what Snakemake fetched by git"


def test_the_demo_from_the_wheel_alone(deployed: Deployed) -> None:
    """In an empty folder, by the command that the wheel installs, with its own profile and configuration."""
    empty = deployed.folder.parent / "nothing"
    empty.mkdir()
    start = "import sys; from ragrelay.execution.command import main; sys.argv = ['ragrelay', 'demo', '-n']; main()"
    done = subprocess.run(
        [sys.executable, "-c", start], cwd=empty, env=deployed.environment(), text=True, capture_output=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    own = deployed.packages / "ragrelay/workflow_files"
    assert done.stderr.startswith(
        f"snakemake --snakefile {own}/Snakefile --cores all --configfile {own}/config/demo_real"
    )
    assert f"Using workflow specific profile {own}/profiles/default" in done.stdout + done.stderr
    jobs = jobs_of(done)
    assert jobs["convert_model"] == jobs["generate_answers"] == 1 and jobs["index_corpus"] == 2
    (entry,) = (e for each in distributions(path=[str(deployed.packages)]) for e in each.entry_points)
    assert (entry.group, entry.value) == ("console_scripts", "ragrelay.execution.command:main")


def test_the_slurm_profile(deployed: Deployed) -> None:
    """By the command that docs/cluster.md gives for a clone, too (test_profiles.py)."""
    own = deployed.folder / "plain.smk"
    snakefile = (deployed.folder / "workflow/Snakefile").read_text(encoding="utf-8")
    own.write_text(snakefile + "\nfor each in workflow.rules:\n    each.message = None\n")
    own_heads = ("--snakefile", own.name, "--quiet", "host")
    done = deployed.snakemake("--dry-run", "--profile", "profiles/slurm", *own_heads)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert "slurm_partition=gpu" in said and "slurm_partition=cpu" in said


SHOW_FILES = """
from snakemake.sourcecache import infer_source_file


for each in workflow.rules:
    for kind, named in (("script", each.script), ("environment", each.conda_env)):
        if named:
            print(f"{kind}:", infer_source_file(named, each.basedir).path)
    for file in [*each.output, *each.input]:
        if "report" in getattr(file, "flags", {}):
            print("caption:", file.flags["report"].caption.path)
"""


def test_the_files_of_rules_are_those_of_the_repository(deployed: Deployed) -> None:
    """Snakemake looks up scripts, environments and captions from the file of the rule, also those of annexes."""
    own = deployed.folder / "shown.smk"
    own.write_text((deployed.folder / "workflow/Snakefile").read_text(encoding="utf-8") + SHOW_FILES)
    done = deployed.snakemake("--dry-run", "--snakefile", own.name, "--configfile", "config/one_passage.yaml")
    for kind, fewest in {"script": 80, "environment": 5, "caption": 20}.items():
        paths = set(re.findall(f"^{kind}: (.*)$", done.stdout + done.stderr, re.MULTILINE))
        assert len(paths) >= fewest, (kind, done.stderr[-3000:])
        assert [path for path in sorted(paths) if not (deployed.repository / path).is_file()] == []


def test_digests_are_those_of_a_checkout(deployed: Deployed) -> None:
    """So that a study may move from one to the other and rerun nothing for it."""
    code = "from ragrelay.execution.jobs.code_digest import code_digest; import ragrelay; print(ragrelay.__file__)\n"
    of_annexes = [name for name, path in SCRIPTS.items() if path not in CORE_SCRIPTS]
    scripts = ("retrieval/build_run.py", "report/write_tables.py", *of_annexes[:1])
    modules = ("ragrelay.retrieval.retrievers.bm25",)
    file, *digests = in_package(
        deployed,
        code + "\n".join(f"print(code_digest({script!r}, *{modules}))" for script in scripts),
    ).splitlines()
    assert Path(file).is_relative_to(deployed.packages)
    assert digests == [code_digest(script, *modules) for script in scripts]


def test_the_library_is_in_the_wheel(deployed: Deployed) -> None:
    """With its parts for Python, the configuration's keys and the demo; its version is that of the distribution."""
    modules = [f"ragrelay.{door}" for annex in annexes() for door in annex.doors if not hasattr(ragrelay, door)]
    doors = ["ragrelay", *modules, "ragrelay.bertscore", "ragrelay.config.schema"]
    code = (
        "from importlib.metadata import version\n"
        f"import {', '.join(doors)}\n"
        "from ragrelay.base.io.workflow_files import ROOT\n"
        "from ragrelay.report.provenance import _commit\n"
        "print(version('ragrelay') == ragrelay.__version__, _commit(str(ROOT)))\n"
        "print(*sorted(p.name for p in (ROOT / 'resources/demo').iterdir()))"
    )
    assert in_package(deployed, code).splitlines() == ["True None", "claims collection model"]


def test_the_wheel_has_types_and_nothing_of_its_building(deployed: Deployed) -> None:
    assert (deployed.packages / "ragrelay/py.typed").is_file()
    assert list(deployed.packages.rglob("*.egg-info")) == []
    (found,) = distributions(name="ragrelay", path=[str(deployed.packages)])
    assert "Typing :: Typed" in found.metadata.get_all("Classifier")


def test_another_version_of_the_package_is_one_line(deployed: Deployed) -> None:
    path = deployed.packages / "ragrelay/__init__.py"
    before = path.read_text(encoding="utf-8")
    path.write_text('__version__ = "0.0.9"\n', encoding="utf-8")
    try:
        done = deployed.snakemake("--dry-run")
    finally:
        path.write_text(before, encoding="utf-8")
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said
    (line,) = (line for line in said.splitlines() if line.startswith("ragrelay: error"))
    assert line.startswith("ragrelay: error: Python package ragrelay: found 0.0.9; expected ")
    assert line.endswith(", the workflow's version")


def test_both_snakefiles_give_the_same_jobs(tmp_path: Path) -> None:
    """And the root's is taken where none is named."""
    study = Sandbox(tmp_path / "study")
    thin = study.planned("--snakefile", "workflow/Snakefile")
    (study.folder / "workflow/Snakefile").write_text("raise SystemExit('not this one')\n", encoding="utf-8")
    assert study.planned() == thin
    assert thin["report"] == 1


def test_the_page_has_the_same_snakefile() -> None:
    """docs/as-a-module.md shows what snakedeploy writes, without comments and the check of Snakemake's version."""
    blocks = re.findall(
        r"```snakemake\n(.*?)```", (ROOT / "docs/as-a-module.md").read_text(encoding="utf-8"), re.DOTALL
    )
    written = SNAKEFILE.format(address=ADDRESS, tag=TAG).partition('min_version("6.10.0")')[2]
    assert words(blocks[0]) == words(written)


def words(snakefile: str) -> list[str]:
    return re.sub("^#.*", "", snakefile, flags=re.MULTILINE).split()
