"""Run the studies whose pages docs/gallery.md shows: python -m tools.gallery CORES

Those of README and docs as they are printed, and two datasets × two generators, cut from the demo. Where the TREC DL
2019 pool is next to the project, its ten runs, and three of them without zero-shot answers.
"""

import gzip
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from benchmarks.shared import model_columns
from tests.support.measured_study import POOL, pool
from tools import page_pictures

ROOT = Path(__file__).parents[1]
OWN = ".gallery"
"""Folder of what the pages have a user write, and of the studies that are made here."""
GRADES = {"lenient": 2, "strict": 3}
PICTURES = {
    "demo_real": "report",
    "my-runs": "two-runs",
    "my-mistake": "cut-run",
    "ten-runs": "ten-runs",
    "brought-answers": "brought-answers",
    "two-by-two": "two-by-two",
}
"""Study → name of its pictures in docs/images."""


def printed(page: str, file: str) -> str:
    """Return the block of ``page`` that begins with the name of ``file``, with paths of answers below OWN."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if block.startswith(f"# {file}\n")).replace('"answers/', f'"{OWN}/answers/')


def two_by_two() -> dict[str, Any]:
    """Return the halves of the demo's queries as two datasets; its model before two templates as two generators."""
    source = ROOT / "resources/demo/collection"
    queries, judged = (
        (source / name).read_text(encoding="utf-8").splitlines() for name in ("queries.tsv", "qrels.txt")
    )
    datasets = {}
    for name, half in {"first": queries[: len(queries) // 2], "second": queries[len(queries) // 2 :]}.items():
        qids = {line.split("\t")[0] for line in half}
        folder = ROOT / OWN / name
        folder.mkdir(exist_ok=True)
        lines = {"queries.tsv": half, "qrels.txt": [line for line in judged if line.split()[0] in qids]}
        for file, some in lines.items():
            (folder / file).write_text("\n".join(some) + "\n", encoding="utf-8")
        (folder / "passages.jsonl").write_bytes((source / "passages.jsonl").read_bytes())
        datasets[name] = {"source": "local", "path": f"{OWN}/{name}", "references": GRADES}
    demo = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))["generators"]["smollm2"]
    grid = {"retrievers": ["bm25", "dense", "rel"], "orderings": ["descending"], "k": [1, 3], "seeds": [1]}
    generators = ["smollm2", "smollm2-chat"]
    return {
        "study": "two-by-two",
        "grid": grid | {"datasets": list(datasets), "generators": generators},
        "datasets": datasets,
        "generators": {generators[1]: demo | {"prompt": "chat"}},
    }


def of_pool() -> dict[str, dict[str, Any]]:
    """Studies of the pool's runs: of all, answered by a real model, and of three, whose answers are brought.

    A brought answer is the sentence of the passages that has most of the query's words.
    """
    renamed = {"bm25": "lucene-bm25", "bm25_rm3": "lucene-rm3"}
    answers = pool().answers.select(pl.col("retriever").replace(renamed), "qid", "k", "seed", "answer")
    runs = {renamed.get(name := run.name.removesuffix(".run.gz"), name): run for run in sorted(POOL.glob("runs/*"))}
    base = {
        "datasets": {"dl19-pool": {"source": "local", "path": str(POOL), "references": GRADES}},
        "retrievers": {name: {"kind": "run", "path": str(run)} for name, run in runs.items()},
        "analysis": {"reference_retriever": "lucene-bm25", "primary": {"retriever": "rep_llama"}},
    }
    grid = {"datasets": ["dl19-pool"], "orderings": ["descending"], "k": [1, 3, 5], "seeds": [1]}
    three = answers.filter(pl.col("retriever").is_in(["lucene-bm25", "rep_llama", "terrier-e5"]))
    three.write_ndjson(ROOT / OWN / "answers/three.jsonl")
    brought = {"theirs": {"engine": "file", "path": f"{OWN}/answers/three.jsonl"}}
    names = three["retriever"].unique(maintain_order=True).to_list()
    return {
        "ten-runs": base
        | {"study": "ten-runs", "generators": {"smollm2-pool": model_columns.STUDY}}
        | {"grid": grid | {"retrievers": list(runs), "generators": ["smollm2-pool"]}},
        "brought-answers": base
        | {"study": "brought-answers", "generators": brought}
        | {"grid": grid | {"retrievers": names, "generators": ["theirs"]}},
    }


def cut_run() -> None:
    """Write the demo's dense run without the queries after q18, the mistake of docs/tutorial.md."""
    run = ROOT / "results/demo_real/demo/runs/dense.run.gz"
    lines = gzip.decompress(run.read_bytes()).decode().splitlines(keepends=True)
    kept = [line for line in lines if line.split()[0] <= "q18"]
    (ROOT / OWN / "cut.run").write_text("".join(kept), encoding="utf-8")


def main(cores: str) -> None:
    (ROOT / OWN / "answers").mkdir(parents=True, exist_ok=True)
    own = {
        f"{OWN}/two-runs.yaml": printed("README.md", "my-study.yaml"),
        f"{OWN}/cut.yaml": printed("docs/tutorial.md", "cut.yaml").replace("runs/cut.run", f"{OWN}/cut.run"),
        f"{OWN}/answers.yaml": printed("docs/bring-your-own-answers.md", "my-study.yaml"),
        f"{OWN}/make.py": printed("docs/bring-your-own-answers.md", "answers/make.py"),
    }
    made = {"two-by-two": two_by_two()} | (of_pool() if POOL.is_dir() else {})
    own |= {f"{OWN}/{name}.yaml": yaml.safe_dump(study) for name, study in made.items()}
    for name, content in own.items():
        (ROOT / name).write_text(content, encoding="utf-8")
    subprocess.run([sys.executable, f"{OWN}/make.py"], cwd=ROOT, check=True)
    snakemake = [sys.executable, "-m", "snakemake", "--cores", cores]
    for targets, file in (
        ([], []),  # tests compute pages from it
        ([], ["config/demo_real.yaml"]),
        ([], [f"{OWN}/two-runs.yaml"]),
        ([], [f"{OWN}/two-runs.yaml", f"{OWN}/cut.yaml"]),
        ([], [f"{OWN}/answers.yaml"]),
        *(([], [f"{OWN}/{name}.yaml"]) for name in made),
        (["erag"], ["config/judges.yaml"]),
    ):
        if f"{OWN}/cut.yaml" in file:
            cut_run()
        subprocess.run([*snakemake, *targets, *(["--configfile", *file] if file else [])], cwd=ROOT, check=True)
    for study, name in PICTURES.items():
        page = ROOT / "results" / study / "report/index.html"
        if page.is_file():
            page_pictures.main(page, name)


if __name__ == "__main__":
    main(sys.argv[1])
