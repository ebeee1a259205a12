"""README and docs as a new user reads them: every fenced block is run as printed, or listed with the reason why not.

Files (a block whose first line is a comment with a name) are written, commands run one after another: long ones as dry
runs, in a copy of the workflow in which the demo seems to be finished.
"""

import ast
import builtins
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
import yaml
from ragrelay.base.annex import annexes
from ragrelay.execution.study.files import result_files

from tests.support.annex_cases import all_are_there, check_documented, entries_of_annexes
from tests.support.forked_python import run_snakemake
from tests.support.loaded_rules import loaded_rules
from tests.support.sandbox import ROOT, Sandbox
from tests.support.tracked import tracked

PAGES = tracked("README.md", "CONTRIBUTING.md", "config/*.md", "profiles/*.md", "docs/**/*.md")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
SETTING = re.compile(r"[A-Z_]+=.*")
NAMED = re.compile(r"# (\S+\.(?:yaml|py))\n")

COMMANDS = ""
NOT_RUN = {
    "text": "lines of a file or of output",
    "python": "tests/unit/project/test_snippets.py runs what is no file",
    "snakemake": "test_as_a_module, tests/dag/test_deployed.py",
    "mermaid": "a picture",
    "toml": "a package's; tests/e2e/test_extensions.py installs it",
    ("README.md", "grid:"): "test_the_grid_of_readme",
    ("docs/check-a-judge.md", "# my-judges.yaml, continued"): "keys of a study; config/judges.yaml is run and has them",
    **entries_of_annexes("DOCS_NOT_RUN"),
}
"""Languages and blocks (page, first line) that aren't run here, and the reason or the test that tries them."""
LEFT_OUT = {
    ". .venv/bin/activate": "the tests run in their own environment",
    "VLLM_CPU_KVCACHE_SPACE=1 python -m vllm": "a server; tests/e2e/test_served_model.py starts it with this command",
    "apt-get install": "changes the system",
    "PYTHONPATH=workflow/scripts:. python -m tests.": "needs the tests, which the copy lacks",
    "sbatch --partition": "a cluster's; tests/slurm/test_submit.py",
    "salloc --partition": "a cluster's; tests/slurm/test_submit.py",
    "export VLLM_API_KEY=": "a cluster's; tests/slurm/test_served.py",
    "server=$(sbatch": "a cluster's; tests/slurm/test_served.py",
    "until [ -e served-": "a cluster's; tests/slurm/test_served.py",
    "OPENAI_BASE_URL=$(cat": "a cluster's; a study asks a server in tests/e2e/test_served_model.py",
    "docker": "needs Docker; tests/faults/test_container.py runs the Dockerfile's steps",
    "apptainer": "needs Apptainer",
    "snakemake --profile profiles/slurm --sdm conda": "needs conda",
    "pip install --no-deps": "makes another environment; tests/dag/test_deployed.py builds the wheel and installs it",
    "ragrelay": "needs the wheel's environment; tests/dag/test_deployed.py, tests/unit/execution/test_command.py",
}
"""Beginnings of commands that aren't run, and why."""
FOR_REAL = {
    ("docs/add-a-prompt.md", "snakemake --cores 2 all_prompts --configfile my-study.yaml", "my-prompt"),
    ("docs/add-a-prompt.md", "snakemake --cores 2 all_prompts --configfile my-study.yaml", "my-built-prompt"),
    ("docs/add-a-retriever.md", "snakemake --cores 2 all_runs --configfile my-study.yaml", "my-pipelines"),
}
"""Page, command and study, where what follows or the test goes on with the results."""
OF_THE_DEMO = ("demo/runs/bm25.run.gz", "demo/runs/dense.run.gz", "report/index.html")


class Block(NamedTuple):
    page: str
    language: str
    content: str

    @property
    def first(self) -> str:
        return self.content.partition("\n")[0]

    @property
    def file(self) -> str | None:
        named = NAMED.match(self.content)
        return named[1] if named else None

    @property
    def commands(self) -> list[str]:
        lines = self.content.replace("\\\n", " ").splitlines() if self.language == COMMANDS else []
        return [" ".join(shlex.split(line, comments=True, posix=False)) for line in lines]


BLOCKS = [
    Block(str(page.relative_to(ROOT)), language, re.sub(f"^{indent}", "", content, flags=re.MULTILINE))
    for page in PAGES
    for indent, language, content in FENCE.findall(page.read_text(encoding="utf-8"))
]
MY_STUDY = next(block.content for block in BLOCKS if block.file == "my-study.yaml")
"""README's, for pages that only name such a file."""
BY_PAGE = {page: [block for block in BLOCKS if block.page == page] for page in dict.fromkeys(b.page for b in BLOCKS)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the workflow in which the demo seems to be finished."""
    folder = Sandbox(tmp_path_factory.mktemp("docs") / "study").folder
    for name, study in itertools.product(OF_THE_DEMO, ("demo", "demo_real", "my-runs")):
        (folder / "results" / study / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "results" / study / name).write_bytes(b"")
    scores = next(block for block in BLOCKS if block.first == "qid,retriever,k,value")
    (folder / "people.csv").write_text(scores.content, encoding="utf-8")
    for task in ("nq", "triviaqa", "hotpotqa", "fever", "wow"):  # as docs/datasets.md makes them
        shutil.copytree(folder / "small", folder / "kilt" / task)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """With a home of its own, for what the pages put there, and python and snakemake as the pages call them."""
    home = tmp_path_factory.mktemp("home")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "PATH": path, "PYTHONPATH": ""}


SEEN: set[tuple[str, str]] = set()
"""Dry runs that were made: command, and my-study.yaml then. Pages share some."""


def run(page: str, command: str, folder: Path, environment: dict[str, str]) -> None:
    """Run ``command`` as a user would: through a shell, but make without doing and snakemake as a dry run."""
    words = shlex.split(command)
    settings = list(itertools.takewhile(SETTING.fullmatch, words))
    own = folder / "my-study.yaml"
    real = (page, command, yaml.safe_load(own.read_text())["study"]) in FOR_REAL
    if words[len(settings)] == "snakemake":
        key = (command, own.read_text() if own.name in command else "")
        if key in SEEN and not real:
            return
        SEEN.add(key)
        given = {**environment, **dict(setting.split("=", 1) for setting in settings)}
        done = run_snakemake(folder, [*words[len(settings) + 1 :], *([] if real else ["--dry-run"])], given)
    else:
        make = command.startswith("make ")
        typed = f"make -n {command.removeprefix('make ')}" if make else command
        done = subprocess.run(
            ["bash", "-euc", typed], cwd=ROOT if make else folder, env=environment, text=True, capture_output=True
        )
    if done.returncode and not all_are_there():
        pytest.skip(f"{page} may be about an annex that has been taken away")
    assert done.returncode == 0, f"{page}: {command}\n{(done.stdout + done.stderr)[-2500:]}"


@pytest.mark.parametrize("page", BY_PAGE)
def test_every_block_runs(page: str, folder: Path, environment: dict[str, str]) -> None:
    """A configuration that no command follows is planned when the whole page's files are there."""
    left = []
    (folder / "my-study.yaml").write_text(MY_STUDY, encoding="utf-8")
    for block, after in itertools.zip_longest(BY_PAGE[page], BY_PAGE[page][1:]):
        if block.file:
            assert block.file != "my-study.yaml" or yaml.safe_load(block.content)["study"] != "demo", block
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.content, encoding="utf-8")
        for command in block.commands:
            if not command.startswith(tuple(LEFT_OUT)):
                run(page, command, folder, environment)
        if block.file == "my-study.yaml" and not (after and "my-study.yaml" in after.content):
            left.append(block.content)
    for configuration in left:
        (folder / "my-study.yaml").write_text(configuration, encoding="utf-8")
        served = {**environment, "OPENAI_BASE_URL": "http://localhost:8000/v1"}
        run(page, "snakemake --configfile my-study.yaml", folder, served)
    if page == "docs/add-a-prompt.md":
        built = pl.read_parquet(folder / "results/my-built-prompt/demo/prompts/my-builder/bm25/descending/k2.parquet")
        assert built["prompt"].str.ends_with("Answer from the text above:").all()
    if page == "docs/add-a-retriever.md":
        results = folder / "results/my-pipelines/demo/contexts"
        dph, overlap = (pl.read_parquet(results / f"{name}.parquet") for name in ("my-dph", "my-overlap"))
        assert dph["qid"].n_unique() == overlap["qid"].n_unique() == 36
        assert overlap["score"].is_between(0, 1).all() and overlap["score"].n_unique() > 5


def test_every_block_is_run_or_left_out_for_a_reason() -> None:
    unknown = [
        block
        for block in BLOCKS
        if not (block.file or block.language == COMMANDS or {block.language, (block.page, block.first)} & set(NOT_RUN))
    ]
    assert unknown == [] or not all_are_there()
    first = {(block.page, block.first) for block in BLOCKS} | {block.language for block in BLOCKS}
    assert set(NOT_RUN) <= first, "reasons for blocks that are gone"
    commands = [(block.page, command) for block in BLOCKS for command in block.commands]
    assert set(commands) >= {(page, command) for page, command, _ in FOR_REAL}
    assert all(any(command.startswith(left) for _, command in commands) for left in LEFT_OUT)


def undefined(code: str) -> set[str]:
    """Names that a snippet reads and neither it nor Python defines."""
    nodes = list(ast.walk(ast.parse(code)))
    defined = set(dir(builtins))
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
    names = [node for node in nodes if isinstance(node, ast.Name)]
    defined |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - defined


def test_snippets_use_only_what_they_define() -> None:
    """So that a reader may paste one as it is."""
    assert undefined("import os\nos.x(run)\n") == {"run"}
    snippets = [block for block in BLOCKS if block.language == "python"]
    assert len(snippets) > 8
    assert [(block.page, names) for block in snippets if (names := undefined(block.content))] == []


@pytest.mark.gate
def test_every_target_is_in_the_list() -> None:
    table = (ROOT / "docs/commands.md").read_text(encoding="utf-8").partition("| target |")[2].partition("\n\n")[0]
    listed = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", ([*row.split("|"), ""])[1])}
    of_annexes = {f"{annex.name}/rules.smk" for annex in annexes()}
    rules = loaded_rules().values()
    targets = {rule.name for rule in rules if rule.file == "targets.smk" or (rule.file in of_annexes and rule.target)}
    check_documented({"report", *targets}, listed)


def test_there_is_a_configuration_in_every_how_to() -> None:
    pages = {f"docs/{path.name}" for path in tracked("docs/*.md") if path.stem.startswith(("add-", "bring-"))}
    assert pages <= {block.page for block in BLOCKS if block.file == "my-study.yaml"}
    assert len(pages) == 8


def test_the_grid_of_readme() -> None:
    (shown,) = (
        yaml.safe_load(block.content) for block in BLOCKS if (block.page, block.first) == ("README.md", "grid:")
    )
    assert shown["grid"] == yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))["grid"]


def test_as_a_module(folder: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """The page's Snakefile, its advice on paths taken."""
    (block,) = (block for block in BLOCKS if block.language == "snakemake" and "path/to/ragrelay" in block.content)
    (tmp_path / "Snakefile").write_text(block.content.replace("path/to/ragrelay", str(folder)))
    ours = (folder / "config/config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(ours.replace("resources/demo", str(folder / "resources/demo")))
    typed = f"snakemake --cores 2 ragrelay_report --workflow-profile {folder}/profiles/default --dry-run"
    done = subprocess.run(["bash", "-c", typed], cwd=tmp_path, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2500:]
    assert "ragrelay_generate_answers" in done.stdout + done.stderr


@pytest.mark.gate
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        target = (path.parent / link) if link else path
        assert target.exists(), link
        if anchor:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in anchors or not all_are_there(), anchor


@pytest.mark.gate
def test_files_that_the_pages_name_exist() -> None:
    """Of the project's own: below its root, its tests, its package or its scripts. A reader's own begin with my_."""
    scripts = ROOT / "workflow/scripts"
    bases = (ROOT, ROOT / "tests", scripts / "ragrelay", scripts, ROOT / "workflow/report", ROOT / "rules",
             *(scripts / "ragrelay/annexes").iterdir())  # fmt: skip
    named = {
        (page.name, path)
        for page in PAGES
        for path in re.findall(r"`([\w./-]+\.(?:py|smk|js))`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    made = {file.path for file in result_files()}
    left = [one for one in sorted(named) if one[1] not in made and not Path(one[1]).name.startswith("my_")]
    missing = [one for one in left if not any((base / one[1]).exists() for base in bases)]
    assert missing == [] or not all_are_there()


@pytest.mark.parametrize("overlay", ["dev_small", "lost_in_the_middle", "nq"])
def test_studies_plan(overlay: str, folder: Path, environment: dict[str, str]) -> None:
    run("config", f"snakemake --configfile config/{overlay}.yaml", folder, environment)
