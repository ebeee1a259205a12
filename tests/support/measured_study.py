"""A study's section from what was measured, single scores, answers, contexts and measures, analysed as the rules do it.

``demo`` and ``real`` are packed in resources/demo (measured, measured_real). ``pool`` is made of the TREC DL 2019
passages and runs next to the project: the answer to a query is the sentence of its passages that has most of the
query's words.
"""

import functools
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ir_measures
import polars as pl
from ragrelay.analysis.lengths import answer_lengths
from ragrelay.analysis.positions import utility_by_position
from ragrelay.analysis.spread import seed_spread
from ragrelay.analysis.transmission import (
    Comparisons,
    JudgedRankings,
    Rankings,
    ScoresOfAnswers,
    Transmission,
    analyse_transmission,
)
from ragrelay.analysis.utility import compute_utility, write_utility
from ragrelay.analysis.variance import decompose_variance
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.execution.study.files import modules_of
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.sections import Grid, Section
from ragrelay.report.outputs import RESULT_TABLES

from tests.support.report_study import GRID, PRIMARY, complete
from tests.support.sandbox import ROOT

MEASURED = ROOT / "resources" / "demo" / "measured"
POOL = ROOT.parent / "shared/data/trec-dl-2019-pool"
MARGIN, RESAMPLES = 0.02, 300


@dataclass(frozen=True)
class Measured:
    """What was measured: frames as in resources/demo/measured, and ``qrels`` (qid, docno, label)."""

    name: str
    scores: pl.DataFrame
    answers: pl.DataFrame
    contexts: pl.DataFrame
    retrieval: pl.DataFrame
    cost: pl.DataFrame
    qrels: pl.DataFrame
    grid: Mapping[str, Any]
    primary: Primary
    reference: str
    mode: str = "relative"
    judged: bool = False
    grades: Mapping[str, int] = field(default_factory=lambda: {"lenient": 2, "strict": 3})
    """The lowest labels of the reference sets."""
    clusters: Mapping[str, int] | None = None
    """The number of each query's cluster; None where queries are independent."""

    @property
    def rankings(self) -> list[str]:
        return [name for name in self.grid["retrievers"] if self.grid["kinds"][name] != "oracle"]


def demo() -> Measured:
    """Return the demo of config/config.yaml, whose model copies."""
    return _packed(MEASURED, GRID, PRIMARY)


def real() -> Measured:
    """Return the demo of config/demo_real.yaml, with a real language model."""
    grid = {**GRID, "orderings": ["descending"], "k": [1, 3], "seeds": [1]}
    return _packed(MEASURED.with_name("measured_real"), grid, PRIMARY._replace(k=3))


def _packed(folder: Path, grid: Mapping[str, Any], primary: Primary) -> Measured:
    frames = {path.stem: pl.read_parquet(path) for path in folder.glob("*.parquet")}
    wide = {name: frame.with_columns(pl.col("k").cast(pl.Int64)) for name, frame in frames.items()}
    lines = [line.split() for line in (ROOT / "resources/demo/collection/qrels.txt").read_text("utf-8").splitlines()]
    qrels = pl.DataFrame(
        [(qid, docno, int(label)) for qid, _, docno, label in lines], ["qid", "docno", "label"], orient="row"
    )
    return Measured("demo", **wide, qrels=qrels, grid=grid, primary=primary, reference="rel")


def section_of(measured: Measured, folder: Path, resamples: int = RESAMPLES) -> Section:
    """The section's tables, computed from ``measured``; ``folder`` is for the files that the analyses read."""
    grid, files = measured.grid, {}
    retrievers = grid["retrievers"]
    for part in ("scores", "retrieval"):
        frame = getattr(measured, part)
        for name in [*retrievers, *(["zeroshot"] if part == "scores" else [])]:
            path = folder / part / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            frame.filter(retriever=name).drop("retriever").write_parquet(path)
            files[part, name] = path
    scores = {name: files["scores", name] for name in ("zeroshot", *retrievers)}
    write_utility(compute_utility(scores, measured.mode), folder / "utility.parquet")
    per_query = pl.read_parquet(folder / "utility.parquet")
    lengths = (
        measured.answers.filter(
            pl.col("retriever").is_in([measured.primary.retriever, measured.primary.reference]),
            ordering=measured.primary.ordering,
            k=measured.primary.k,
        )
        .group_by("retriever", "qid")
        .agg(tokens=pl.col("answer_tokens").mean())
    )
    contexts = measured.contexts.filter(pl.col("k") > 0)
    ranked = (
        contexts.filter(k=max(grid["k"]), ordering="descending")
        .explode("docnos")
        .with_columns(rank=pl.int_range(1, pl.len() + 1).over("retriever", "qid"))
        .select("retriever", "qid", "rank", docno="docnos")
    )
    transmission = Transmission(
        ScoresOfAnswers(
            folder / "utility.parquet",
            {name: path for name, path in scores.items() if name != "zeroshot"},
            lengths if lengths["tokens"].count() else None,
        ),
        Rankings(
            {name: files["retrieval", name] for name in retrievers},
            grid["kinds"],
            contexts,
            JudgedRankings(ranked, measured.qrels, 2),
        ),
        Comparisons(measured.reference, MARGIN, measured.primary),
        resamples=resamples,
        seed=0,
        clusters=measured.clusters,
    )
    for key, rows in contexts.partition_by("retriever", "ordering", "k", as_dict=True).items():
        path = folder / "prompts" / f"{key[0]}-{key[1]}-{key[2]}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.select("qid", "docnos").write_parquet(path)
    prompts = KeyedFiles("prompts/{retriever}-{ordering}-{k}.parquet", tuple(sorted(folder.glob("prompts/*"))))
    tables = {
        **dict(analyse_transmission(transmission, modules_of("analyse_transmission"))),
        "per_query": per_query,
        "retrieval": measured.retrieval,
        "cost": measured.cost,
        "variance": decompose_variance(scores),
        "spread": seed_spread(scores),
        "lengths": answer_lengths(measured.answers),
        "positions": utility_by_position(prompts, measured.qrels, per_query, measured.grades),
    }
    part = {"dataset": measured.name, "generator": "lm", "scorer": measured.primary.scorer}
    return Section(
        **part,
        relative=measured.mode == "relative",
        grades=tuple(measured.grades),
        grid=Grid.of(grid),
        reference_retriever=measured.reference,
        primary=measured.primary,
        tables={name: complete(name, frame, part) for name, frame in tables.items()},
    )


def pool(seeds: Sequence[int] = (1,)) -> Measured:
    """Answers of ten public runs over the pool, scored by the F1 of their words."""
    with gzip.open(POOL / "passages.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = {one["doc_id"]: one["text"] for one in map(json.loads, file)}
    queries = dict(line.split("\t") for line in (POOL / "queries.tsv").read_text("utf-8").splitlines())
    lines = [line.split() for line in (POOL / "qrels.txt").read_text("utf-8").splitlines()]
    qrels = pl.DataFrame(
        [(qid, docno, int(label)) for qid, _, docno, label in lines], ["qid", "docno", "label"], orient="row"
    )
    runs = {path.name.removesuffix(".run.gz"): dict(_run(path, texts)) for path in sorted((POOL / "runs").glob("*.gz"))}
    grid: dict[str, Any] = {
        "retrievers": list(runs),
        "orderings": ["descending"],
        "k": [1, 3, 5],
        "seeds": list(seeds),
        "measures": ["nDCG"],
        "kinds": dict.fromkeys(runs, "run"),
    }
    answers, contexts, scores, retrieval = [], [], [], []
    judged = {
        key: dict(part.select("docno", "label").iter_rows())
        for (key,), part in qrels.partition_by("qid", as_dict=True).items()
    }
    cells = [(name, k, qid) for name in runs for k in grid["k"] for qid in queries]
    for name, k, qid in [*(("zeroshot", 0, qid) for qid in queries), *cells]:
        docnos = runs[name].get(qid, [])[:k] if k else []
        ordering = "descending" if k else "none"
        text = (
            _extracted(queries[qid], [texts[docno] for docno in docnos])
            if k
            else f"I have not read about {queries[qid]}."
        )
        row = {"retriever": name, "ordering": ordering, "k": k, "seed": 1, "qid": qid}
        answers.append(row | {"answer": text, "finish_reason": "stop", "answer_tokens": len(text.split())})
        contexts.append({n: v for n, v in row.items() if n != "seed"} | {"docnos": docnos})
        mine = {docno: _words(texts[docno]) for docno in judged[qid] if judged[qid][docno] >= 2 and docno in texts}
        for grade, least in (("lenient", 2), ("strict", 3)):
            for unseen in (False, True) if k else (False,):
                those = [d for d in mine if judged[qid][d] >= least and not (unseen and d in docnos)]
                cell = {"n_zero": None, "n_references": len(those), "n_near_copies": 0 if unseen else None}
                best, docno = max(((_f1(_words(text), mine[d]), d) for d in those), default=(None, None))
                if those:
                    scores.append(
                        row
                        | {"references": grade + "-unseen" * unseen, "f1": best, "best_in_context": docno in docnos}
                        | cell
                    )
                    if unseen:  # the zero-shot answer on the same references
                        zero = max(_f1(_words(f"I have not read about {queries[qid]}."), mine[d]) for d in those)
                        scores.append(
                            row
                            | {
                                "ordering": "none",
                                "references": grade + "-unseen",
                                "f1": zero,
                                "best_in_context": False,
                            }
                            | cell
                        )
    measures = {f"nDCG@{k}": k for k in grid["k"]}
    for name, run in runs.items():
        ranked = [
            ir_measures.ScoredDoc(qid, docno, -float(rank))
            for qid, some in run.items()
            for rank, docno in enumerate(some)
        ]
        judgements = [ir_measures.Qrel(*row) for row in qrels.iter_rows()]
        for found in ir_measures.iter_calc(list(map(ir_measures.parse_measure, measures)), judgements, ranked):
            retrieval.append(
                {
                    "retriever": name,
                    "qid": found.query_id,
                    "measure": "nDCG",
                    "k": measures[str(found.measure)],
                    "value": found.value,
                }
            )
    cost = pl.DataFrame(schema=schema_of(resolve(RESULT_TABLES["cost"].columns)))
    frames = [pl.DataFrame(rows, infer_schema_length=None) for rows in (scores, answers, contexts, retrieval)]
    primary = Primary("rep_llama", "bm25", "descending", 5, "lenient", "nDCG", "token_f1")
    return Measured("pool", *frames, cost=cost, qrels=qrels, grid=grid, primary=primary, reference="bm25")


def _run(path: Path, texts: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    frame = pl.DataFrame(
        [(qid, docno, float(score)) for qid, _, docno, _, score, _ in rows], ["qid", "docno", "score"], orient="row"
    )
    known = frame.filter(pl.col("docno").is_in(list(texts))).sort(
        "score", "docno", descending=True, maintain_order=True
    )
    for (qid,), part in known.group_by("qid", maintain_order=True):
        yield str(qid), part["docno"].head(50).to_list()


@functools.cache
def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def _f1(one: Counter[str], other: Counter[str]) -> float:
    return 2.0 * (one & other).total() / ((one.total() + other.total()) or 1)


def _extracted(query: str, passages: Sequence[str]) -> str:
    asked = {word for word in _words(query) if len(word) > 3}
    said = [sentence for text in passages for sentence in re.split(r"(?<=[.!?])\s+", text)]
    return max(said, key=lambda sentence: len(asked & set(_words(sentence))), default="")
