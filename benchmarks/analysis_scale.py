"""Seconds and peak memory of score table -> utility -> analysis at the size of MS MARCO's dev queries.

    python benchmarks/analysis_scale.py --out analysis_scale.json

Synthesises answers, references and retrieval values of a grid (default: 6,980 queries x 4 retrievers x 2 orderings x
4 k x 5 seeds, 1.1 million answers besides the zero-shot ones, two reference grades) and runs the workflow's own
functions on them, each stage in a process of its own. The scorer alone is a stand-in, which draws scores: encoding
texts is no part of this. CPU seconds stand beside wall-clock ones, since a shared machine stretches the latter.
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ragrelay.analysis.transmission import analyse
from ragrelay.analysis.utility import UNSEEN, utility_tables, write_utility
from ragrelay.analysis.variance import decompose
from ragrelay.files import write_csv
from ragrelay.scoring import scorers
from ragrelay.scoring.score_table import SCHEMA, score_retriever
from ragrelay.scoring.scorers import Scores, Task

ORDERINGS = ("descending", "ascending")
GRADES = {"lenient": 2, "strict": 3}
# Levels of the drawn scores and of nDCG.
RETRIEVERS = {"bm25": 0.5, "dense": 0.6, "rel": 0.9, "nrel": 0.1}


@dataclass(frozen=True)
class Size:
    """The grid: queries, seeds per cell and contexts' sizes."""

    queries: int
    seeds: tuple[int, ...]
    ks: tuple[int, ...]

    @property
    def answers(self) -> int:
        """Answers made with a context."""
        return self.queries * len(RETRIEVERS) * len(ORDERINGS) * len(self.ks) * len(self.seeds)


class DrawnScores:
    """Stands in for an encoder: scores drawn at random, whatever the texts."""

    fingerprint = "drawn"

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def prepare(self, references: Any) -> dict[str, Any]:
        return {}

    def score(self, tasks: list[Task]) -> list[Scores]:
        shapes = [(3, len(task.answers), len(task.references)) for task in tasks]
        return [Scores(*self.random.beta(8, 5, shape).astype(np.float32)) for shape in shapes]


def synthesise(folder: Path, size: Size) -> None:
    """References, prompts, answers and retrieval values under ``folder``, in the files' real columns."""
    random = np.random.default_rng(1)
    qids = [str(1_000_000 + place) for place in range(size.queries)]
    counts = 1 + random.poisson(2.0, size.queries)
    rows = [
        (qid, f"{qid}-{place}", int(random.integers(2, 4)), f"reference {place} of {qid}")
        for qid, count in zip(qids, counts, strict=True)
        for place in range(count)
    ]
    pl.DataFrame(rows, schema=["qid", "docno", "label", "text"], orient="row").write_parquet(
        folder / "references.parquet"
    )
    _answers(folder / "zeroshot", "none", 0, qids, size.seeds)
    for retriever, level in RETRIEVERS.items():
        for k in size.ks:
            shown = [
                [f"{qid}-{place}" if random.random() < level / 2 else f"other-{place}" for place in range(k)]
                for qid in qids
            ]
            for ordering in ORDERINGS:
                _answers(folder / retriever, ordering, k, qids, size.seeds)
                ids = [f"{ordering} {k} {qid}" for qid in qids]
                table = {"qid": qids, "docnos": shown, "prompt": ids, "prompt_id": ids}
                pl.DataFrame(table).write_parquet(folder / retriever / f"prompts-{ordering}-{k}.parquet")
        values = [
            pl.DataFrame({"qid": qids, "value": np.round(random.beta(1 + 4 * level, 3, size.queries), 3)}).select(
                "qid", pl.lit("nDCG").alias("measure"), pl.lit(k, pl.Int64).alias("k"), "value"
            )
            for k in size.ks
        ]
        pl.concat(values).write_parquet(folder / retriever / "retrieval.parquet")


def _answers(folder: Path, ordering: str, k: int, qids: list[str], seeds: tuple[int, ...]) -> None:
    folder.mkdir(exist_ok=True)
    ids = [f"{ordering} {k} {qid}" for qid in qids]
    for seed in seeds:
        answers = [f"{folder.name} {one} {seed}" for one in ids]
        table = {"qid": qids, "prompt_id": ids, "seed": [seed] * len(qids), "answer": answers}
        pl.DataFrame(table).write_parquet(folder / f"answers-{ordering}-{k}-{seed}.parquet")


def score(folder: Path, size: Size, retriever: str) -> None:
    """The score table of ``retriever`` (or zeroshot)."""
    scorers.KINDS["drawn"] = lambda *_: DrawnScores()
    here = folder / retriever
    zeroshot = {seed: folder / "zeroshot" / f"answers-none-0-{seed}.parquet" for seed in size.seeds}
    contexts = [(ordering, k) for ordering in ORDERINGS for k in size.ks]
    if retriever == "zeroshot":
        answers, prompts, beside = {("none", 0, seed): path for seed, path in zeroshot.items()}, {}, {}
    else:
        answers = {(o, k, seed): here / f"answers-{o}-{k}-{seed}.parquet" for o, k in contexts for seed in size.seeds}
        prompts, beside = {(o, k): here / f"prompts-{o}-{k}.parquet" for o, k in contexts}, zeroshot
    score_retriever(
        answers, prompts, beside, folder / "references.parquet", GRADES, {"kind": "drawn"}, folder / "cache",
        here / "scores.parquet", threads=2,
    )  # fmt: skip


def draw_scores(folder: Path, size: Size, retriever: str) -> None:
    """A score table of the same shape drawn at once, in place of ``score``."""
    random = np.random.default_rng([2, *retriever.encode()])
    contexts = [("none", 0)] if retriever == "zeroshot" else [(o, k) for o in ("none", *ORDERINGS) for k in size.ks]
    qids = pl.read_parquet(folder / "references.parquet")["qid"].unique(maintain_order=True)
    tables = []
    for ordering, k in contexts:
        kinds = [name + UNSEEN for name in GRADES] if ordering == "none" and k else list(GRADES)
        kinds += [name + UNSEEN for name in GRADES] if k and ordering != "none" else []
        for references in kinds:
            # Some queries have no reference that their context doesn't show.
            some = (
                qids.filter(np.random.default_rng(k).random(len(qids)) > 0.1) if references.endswith(UNSEEN) else qids
            )
            own = random.beta(8, 5, len(some))
            for seed in size.seeds:
                names = {"ordering": ordering, "references": references, "best_docno": "d"}
                numbers = {"k": k, "seed": seed, "n_references": 3}
                f1 = 0.8 * own + 0.2 * random.beta(8, 5, len(some))
                table = pl.DataFrame(
                    {"qid": some, "precision": f1, "recall": f1, "f1": f1, "best_in_context": f1 > 0.7}
                )
                columns = {name: pl.lit(text) for name, text in names.items()}
                columns |= {name: pl.lit(number, pl.Int64) for name, number in numbers.items()}
                tables.append(table.with_columns(**columns).select(*SCHEMA))
    pl.concat(tables).write_parquet(folder / retriever / "scores.parquet")


def compute_utility(folder: Path, size: Size) -> None:
    """The utility file."""
    write_utility(utility_tables(_scores(folder), "relative"), folder / "utility.parquet")


def decompose_variance(folder: Path, size: Size) -> None:
    """The table of variance components."""
    write_csv(decompose(_scores(folder)), folder / "variance.csv")


def analyse_transmission(folder: Path, size: Size) -> None:
    """The tables of means, correlations, differences and tests."""
    retrieval = {name: folder / name / "retrieval.parquet" for name in RETRIEVERS}
    made = analyse(folder / "utility.parquet", retrieval, resamples=10_000, seed=0, reference_retriever="rel")
    for name, table in made._asdict().items():
        write_csv(table, folder / f"{name}.csv")


def _scores(folder: Path) -> Mapping[str, Path]:
    return {name: folder / name / "scores.parquet" for name in ("zeroshot", *RETRIEVERS)}


def measured(task: Callable[..., None], *arguments: Any) -> dict[str, float]:
    """Run ``task`` in a fresh process: its wall-clock seconds and peak memory in GiB."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, task, *arguments).result()


def _measure(task: Callable[..., None], *arguments: Any) -> dict[str, float]:
    started, cpu = time.perf_counter(), time.process_time()
    task(*arguments)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30
    return {"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "peak_gib": round(peak, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--drawn", action="store_true", help="draw the score tables, to measure the analysis alone")
    arguments = parser.parse_args()
    size = Size(arguments.queries, tuple(range(1, arguments.seeds + 1)), tuple(arguments.k))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stages = {"synthesise": measured(synthesise, folder, size)}
        making = draw_scores if arguments.drawn else score
        for retriever in ("zeroshot", *RETRIEVERS):
            stages[f"{making.__name__} {retriever}"] = measured(making, folder, size, retriever)
        for stage in (compute_utility, decompose_variance, analyse_transmission):
            stages[stage.__name__] = measured(stage, folder, size)
        rows = {path.stem: pl.scan_csv(path).select(pl.len()).collect().item() for path in sorted(folder.glob("*.csv"))}
    tables = ("compute_utility", "decompose_variance", "analyse_transmission")
    result = {
        "queries": size.queries, "retrievers": len(RETRIEVERS), "orderings": len(ORDERINGS), "k": size.ks,
        "seeds": len(size.seeds), "answers": size.answers, "stages": stages, "rows": rows,
        "analysis_cpu_seconds": round(sum(stages[stage]["cpu_seconds"] for stage in tables), 2),
        "analysis_seconds": round(sum(stages[stage]["seconds"] for stage in tables), 2),
        "analysis_peak_gib": max(stages[stage]["peak_gib"] for stage in tables),
    }  # fmt: skip
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
