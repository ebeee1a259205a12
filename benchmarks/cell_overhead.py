"""What a cell costs apart from its models: prompting, answer files, scoring and analysis on a grid of 1,000 cells.

    python benchmarks/cell_overhead.py --out cell_overhead.json

The functions that the workflow's scripts call, on the demo's collection, with four retrievers, five orderings, ten k
and five seeds by default, and synthetic answers in the store, all different. Only the scorer is a substitute, which
draws its scores: encoding is timed elsewhere. A job's start is not per cell and left out.
"""

import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from ragrelay.analysis.transmission import (
    Comparisons,
    JudgedRankings,
    Rankings,
    ScoresOfAnswers,
    Transmission,
    analyse_transmission,
)
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.base.io.atomic_files import write_csv, write_parquet
from ragrelay.base.vocabulary.measures import measure_ranking
from ragrelay.base.vocabulary.orderings import ORDERINGS
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.execution.study.files import modules_of
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.prompting.layout import zeroshot_prompts
from ragrelay.scoring import query_scores
from ragrelay.scoring.retriever_table import References, score_answers
from threadpoolctl import threadpool_limits

from benchmarks.shared import pairs, record
from benchmarks.shared.demo import Demo, make_demo
from benchmarks.shared.drawn import DrawnScores

ZEROSHOT = "zeroshot"
GRADES = {"lenient": 2, "strict": 3}
STAGES = ("prompting", "answer files", "scoring", "analysis")


class Grid:
    """One pass over the grid, a method per stage; ``seconds`` per stage."""

    def __init__(self, demo: Demo, given: Namespace, contexts: Mapping[str, Path], references: Path) -> None:
        self.demo, self.given, self.contexts, self.references = demo, given, contexts, references
        self.seeds = list(range(1, given.seeds + 1))
        self.store = AnswerStore(demo.folder, "benchmark")
        self.seconds = dict.fromkeys(STAGES, 0.0)
        # Per retriever: the prompt file of each (ordering, k), and what later stages write.
        self.prompts: dict[str, dict[tuple[str, int], Path]] = {}
        self.scores = {name: demo.folder / f"{name}.scores.parquet" for name in (ZEROSHOT, *contexts)}
        self.answers: dict[str, dict[tuple[str, int, int], Path]] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - started

    def prompt(self) -> None:
        ks = range(1, self.given.k + 1)
        for name, contexts in self.contexts.items():
            cells = {o: self.demo.write_prompts(contexts, o, ks) for o in list(ORDERINGS)[: self.given.orderings]}
            self.prompts[name] = {(o, k): path for o, paths in cells.items() for k, path in zip(ks, paths, strict=True)}
        path = self.demo.folder / "zeroshot-none-0.parquet"
        write_parquet(zeroshot_prompts(self.demo.queries, self.demo.template), path)
        self.prompts[ZEROSHOT] = {("none", 0): path}

    def answer(self) -> None:
        """Put an answer to every prompt and seed into the store; not timed."""
        paths = [path for files in self.prompts.values() for path in files.values()]
        ids = pl.concat([pl.read_parquet(path, columns=["prompt_id"]) for path in paths]).unique(maintain_order=True)
        keys = ids.join(pl.DataFrame({"seed": self.seeds}), how="cross")
        text = pl.format("answer {} with seed {}", pl.col("prompt_id"), pl.col("seed"))
        rows = keys.with_columns(answer=text, finish_reason=pl.lit("stop"), logprob=pl.lit(-1.0))
        counts = [pl.lit(9, pl.Int64).alias(name) for name in SCHEMA if name not in rows.columns]
        self.store.append(rows.with_columns(counts).select(*SCHEMA).to_dicts(), {})

    def view(self) -> None:
        for name, files in self.prompts.items():
            folder, cells = self.demo.folder / "answers", [(*one, seed) for one in files for seed in self.seeds]
            outputs = {cell: folder / f"{name}-{'-'.join(map(str, cell))}.parquet" for cell in cells}
            view_answers(files, self.store, outputs)
            self.answers[name] = outputs

    def score(self) -> None:
        for name, answers in self.answers.items():
            score_answers(
                {**answers, **self.answers[ZEROSHOT]},
                self.prompts[name],
                References(self.references, GRADES),
                {"kind": "drawn"},
                self.demo.folder,
                self.scores[name],
                threads=2,
            )

    def analyse(self, retrieval: Mapping[str, Path], qrels: pl.DataFrame) -> None:
        utility = self.demo.folder / "utility.parquet"
        write_utility(compute_utility(self.scores, "relative"), utility)
        contexts = pl.concat(
            pl.read_parquet(path, columns=["qid", "docnos"]).with_columns(
                retriever=pl.lit(name), ordering=pl.lit(ordering), k=pl.lit(k, pl.Int64)
            )
            for name in retrieval
            for (ordering, k), path in self.prompts[name].items()
        )
        columns = ["qid", "rank", "docno"]
        ranked = pl.concat(
            pl.read_parquet(self.contexts[name], columns=columns).select(pl.lit(name).alias("retriever"), "*")
            for name in retrieval
        )
        transmission = Transmission(
            ScoresOfAnswers(utility, {name: self.scores[name] for name in retrieval}),
            Rankings(retrieval, dict.fromkeys(retrieval, "bm25"), contexts, JudgedRankings(ranked, qrels, 2)),
            Comparisons("rel", 0.02, None),
            resamples=10_000,
            seed=0,
        )
        for name, table in analyse_transmission(transmission, modules_of("analyse_transmission")):
            write_csv(table, self.demo.folder / f"{name}.csv")


def one_pass(given: Namespace) -> dict[str, float]:
    """Seconds per stage of one pass, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        demo = make_demo(Path(name))
        definitions = {name: demo.study.retriever(name) for name in ("bm25", "rel", "nrel")}
        definitions["bm25-long"] = {**definitions["bm25"], "k1": 2.0}
        contexts = {name: demo.write_contexts(one, name) for name, one in list(definitions.items())[: given.retrievers]}
        queries, qrels, _ = prepare_collection(demo.collection, "dataset demo")
        references, _ = prepare_references(demo.collection, queries, qrels, GRADES, "dataset demo")
        write_parquet(references, demo.folder / "references.parquet")
        retrieval = {name: demo.folder / f"{name}.measures.parquet" for name in contexts}
        for name, path in retrieval.items():
            ks = list(range(1, given.k + 1))
            write_parquet(measure_ranking(pl.read_parquet(contexts[name]), qrels, ["nDCG"], ks), path)
        grid = Grid(demo, given, contexts, demo.folder / "references.parquet")
        with grid.timed("prompting"):
            grid.prompt()
        grid.answer()
        with grid.timed("answer files"):
            grid.view()
        with grid.timed("scoring"):
            grid.score()
        with grid.timed("analysis"):
            grid.analyse(retrieval, qrels)
        return grid.seconds


def main() -> None:
    parser = record.arguments(__doc__)
    for option, size in {"retrievers": 4, "orderings": 5, "k": 10, "seeds": 5, "rounds": 3}.items():
        parser.add_argument(f"--{option}", type=int, default=size)
    given = parser.parse_args()
    query_scores.make_scorer = lambda *_: DrawnScores()  # type: ignore[assignment]
    cells = given.retrievers * given.orderings * given.k * given.seeds
    # Products of matrices have one thread here, as in the workflow's jobs.
    with threadpool_limits(1):
        rounds = [one_pass(given) for _ in range(given.rounds)]
    totals = [1000 * sum(one.values()) / cells for one in rounds]
    figures = {"time per cell": record.figure(pairs.median(totals), "ms", goal="<= 10", spread=totals)}
    for stage in STAGES:
        spent = pairs.median([one[stage] for one in rounds])
        figures[f"time per cell: {stage}"] = record.figure(1000 * spent / cells, "ms")
    setting = (
        f"{cells:,} cells of 36 queries each, {given.rounds} rounds; excluding the time to load models and start jobs"
    )
    record.write_record(given, setting, figures, ["polars", "numpy", "scipy"])


if __name__ == "__main__":
    main()
