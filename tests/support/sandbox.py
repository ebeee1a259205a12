"""A copy of the workflow in a folder of its own, with a small real study to run in it."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Self

import polars as pl
import yaml

from tests.support.forked_python import run_snakemake

ROOT = Path(__file__).parents[2]
MODEL = str(ROOT / "resources/demo/model")
PARTS = (
    "Snakefile",
    "rules",
    "workflow",
    "config",
    "profiles",
    "envs",
    "resources/demo/claims",
    "resources/demo/judges",
    "resources/demo/collection",
    "resources/demo/model",
    "resources/published",
)
TOKEN = "hf_" + "s3cret" * 6
"""A fake access token, in the environment of every run: it must never show up in a file."""
GOLD = {"q01": ["no such words", "another"], "q02": ["the"]}
CORES = 1 if "PYTEST_XDIST_WORKER" in os.environ else 2
"""Cores of a study: one beside other workers, since an engine's threads wait for each other at every step."""
SMALL_GRID = {
    "datasets": ["small"],
    "retrievers": ["bm25", "rel", "nrel"],
    "orderings": ["descending", "ascending"],
    "k": [1, 2],
    "seeds": [1, 2],
}


class Sandbox:
    """A copy of the workflow in ``folder`` with the study ``small``: the demo's first queries and their pools."""

    forked = True
    """Whether Snakemake and its jobs are forked (support/forked_python.py); else every process starts anew."""

    def __init__(self, folder: Path, queries: int = 8) -> None:
        self.folder = folder
        for part in PARTS:
            source, target = ROOT / part, folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                # Compiled modules, too; not those that another worker is writing.
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc.*", ".*.json"), symlinks=True)
            else:
                shutil.copy2(source, target)
        _cut_collection(folder / "resources/demo/collection", self.collection, queries)
        dataset = {"source": "local", "path": "small", "references": {"lenient": 2, "strict": 3}}
        self.config: dict[str, Any] = {
            "study": "small",
            "grid": SMALL_GRID,
            "datasets": {"small": dataset},
            "analysis": {"resamples": 500},
            # All cores for each job, so that no two run at once: those may make a key that they share twice.
            "generators": {"demo-lm": {"threads": 2}},
        }
        self.write_config()

    @classmethod
    def at(cls, folder: Path) -> Self:
        """The study that stands in ``folder`` already."""
        found = cls.__new__(cls)
        found.folder = folder
        found.config = yaml.safe_load((folder / "small.yaml").read_text(encoding="utf-8"))
        return found

    def copied_to(self, folder: Path) -> Self:
        """A copy of it all in ``folder``, Snakemake's records and the files' times included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return self.at(folder)

    @property
    def collection(self) -> Path:
        return self.folder / "small"

    @property
    def results(self) -> Path:
        return self.folder / "results" / str(self.config["study"])

    def write_config(self, comment: str = "") -> None:
        """Write the overlay ``small.yaml``, with ``comment`` on top."""
        (self.folder / "small.yaml").write_text(comment + yaml.safe_dump(self.config), encoding="utf-8")

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", str(CORES), *arguments, "--configfile", "small.yaml"]

    def environment(self) -> dict[str, str]:
        # Not what an engine that was started in this process set for itself (generation/engine.py).
        kept = {name: value for name, value in os.environ.items() if not name.startswith("VLLM_")}
        return {**kept, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1", "HF_TOKEN": TOKEN}

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake here with the overlay; raises with the output's end where it fails and ``check`` is set."""
        command, environment = self.command(*arguments), self.environment()
        if self.forked:
            done = run_snakemake(self.folder, command[3:], environment)
        else:
            done = subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True)
        if check and done.returncode:
            raise AssertionError(f"snakemake {' '.join(arguments)} failed:\n{(done.stdout + done.stderr)[-6000:]}")
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start Snakemake here, as the leader of a process group; its output goes to ``output.txt``."""
        with (self.folder / "output.txt").open("w") as output:
            return subprocess.Popen(
                self.command(*arguments), cwd=self.folder, env=self.environment(), text=True, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def tables(self) -> dict[str, bytes]:
        """Bytes of every answer, score and analysis file and of the report's tables, except by shards or time."""
        patterns = ("small/answers/**/*.parquet", "small/scores/**/*.parquet", "small/analysis/**/*.csv")
        files = [path for pattern in (*patterns, "report/tables/*.csv") for path in self.results.glob(pattern)]
        kept = [path for path in files if path.name != "left_out.csv" and not path.name.startswith("cost_")]
        return {str(path.relative_to(self.results)): path.read_bytes() for path in kept}

    def contents(self) -> dict[str, bytes]:
        """Bytes of every file of the results, but for those that contain times, as docs/reliability.md names them."""
        files = {str(path.relative_to(self.results)): path for path in self.results.rglob("*") if path.is_file()}
        kept = {name for name in files if not any(fnmatch(name, pattern) for pattern in timed_files())}
        return {name: files[name].read_bytes() for name in sorted(kept)}

    def planned(self, *arguments: str) -> dict[str, int]:
        """Rule → number of jobs that a dry run would run."""
        return jobs_of(self.snakemake("--dry-run", *arguments))

    def seem_run(self, *targets: str) -> None:
        """Let the jobs of ``targets`` that are to run seem to have run, for dry runs after it.

        Files that are missing are empty then, and Snakemake's own `--touch` records how they were made.
        """
        planned = set(self.planned(*targets)) - {*targets, "report"}
        for line in self.snakemake("--summary", *targets).stdout.splitlines():
            path, _, rest = line.partition("\t")
            if "\tmissing\t" in rest:
                # One without a suffix is a folder.
                made = self.folder / path if Path(path).suffix else self.folder / path / "file"
                made.parent.mkdir(parents=True, exist_ok=True)
                made.touch()
        # Forced, as empty files that are new enough give no reason to run, and a job without one is not recorded.
        self.snakemake("--touch", *targets, "--forcerun", *planned)
        assert not set(self.planned(*targets)) & planned

    def receipts(self) -> dict[str, dict[str, Any]]:
        """Generation's receipts by generator and shard."""
        return {
            f"{path.parent.name}/{path.stem}": json.loads(path.read_text())
            for path in sorted(self.results.glob("small/generated/*/shard*.json"))
        }

    def answers_made(self) -> int:
        """Answers that generation's jobs made, by their receipts."""
        return sum(one["made"] for one in self.receipts().values())

    def distinct_keys(self) -> int:
        """Distinct pairs of prompt and seed that the study asks for: what the jobs of generation share."""
        files = list((self.results / "small/prompts").rglob("*.parquet"))
        seeds: list[int] = self.config["grid"]["seeds"]
        return int(pl.read_parquet(files, columns=["prompt_id"])["prompt_id"].n_unique()) * len(seeds)


@functools.cache
def timed_files() -> list[str]:
    """Patterns of the files that contain times, from the table of docs/reliability.md."""
    text = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    table = text.split("## Files that contain times")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return re.findall("`([^`]+)`", "".join(rows))


def jobs_of(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Rule → number of jobs, by the table that Snakemake shows before it runs them, or in place of that."""
    counts: dict[str, int] = {}
    table = False
    for line in (done.stdout + done.stderr).splitlines():
        table = table or line.startswith("Job stats")
        name, _, count = line.strip().rpartition(" ")
        if table and count.isdigit() and name.strip() != "total":
            counts[name.strip()] = int(count)
        if table and not line.strip():
            break
    return counts


def _cut_collection(source: Path, target: Path, queries: int) -> None:
    """The first ``queries`` queries with the passages of their pools, and gold answers to two of them."""
    target.mkdir(parents=True)
    lines = (source / "queries.tsv").read_text(encoding="utf-8").splitlines()[:queries]
    qids = {line.split("\t")[0] for line in lines}
    qrels = [line for line in (source / "qrels.txt").read_text().splitlines() if line.split()[0] in qids]
    docnos = {line.split()[2] for line in qrels}
    passages = (source / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in passages if json.loads(line)["doc_id"] in docnos]
    gold = [json.dumps({"qid": qid, "answers": answers}) for qid, answers in GOLD.items()]
    files = {"queries.tsv": lines, "qrels.txt": qrels, "passages.jsonl": kept, "answers.jsonl": gold}
    for name, content in files.items():
        (target / name).write_text("\n".join(content) + "\n", encoding="utf-8")
