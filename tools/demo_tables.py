"""Pack what the demo's page is computed from into resources/demo/measured, from the finished demo in results/.

Parquet files: scores, answers (a hash in the place of each text), contexts, measures, cost. From them the tests compute
the page's numbers without an engine, and compare README and every sentence with them.
"""

import re
from pathlib import Path

import polars as pl
from ragrelay.io.hashing import text_hash
from ragrelay.io.keyed_files import WILDCARD, KeyedFiles

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PACKED = ROOT / "results" / "demo" / "demo", ROOT / "resources" / "demo" / "measured"
PARTS = {
    "scores": (
        "scores/minilm/demo-lm/{retriever}.parquet",
        [
            "qid",
            "ordering",
            "k",
            "seed",
            "references",
            "f1",
            "best_in_context",
            "n_references",
            "n_near_copies",
            "n_zero",
        ],
    ),
    "answers": (
        "answers/demo-lm/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
        ["qid", "answer", "finish_reason", "answer_tokens"],
    ),
    "contexts": ("prompts/tian2025/{retriever}/{ordering}/k{k}.parquet", ["qid", "docnos"]),
    "retrieval": ("retrieval/{retriever}.parquet", ["qid", "measure", "k", "value"]),
}
"""Pattern of each part's files below RESULTS, and the columns that are kept."""


def packed(name: str) -> pl.DataFrame:
    """A part's rows, with the values of its pattern as columns."""
    pattern, columns = PARTS[name]
    files = KeyedFiles(pattern, tuple(sorted(RESULTS.glob(WILDCARD.sub("*", pattern)))))
    rows = pl.concat(
        pl.read_parquet(path, columns=columns).select(*(pl.lit(v).alias(n) for n, v in key.items()), *columns)
        for key, path in files.keyed
    )
    if "answer" in columns:
        texts = {text: text_hash(text)[:8] if re.search(r"\S", text) else "" for text in rows["answer"].unique()}
        rows = rows.with_columns(pl.col("answer").replace_strict(texts, return_dtype=pl.String))
    return rows


def main() -> None:
    PACKED.mkdir(parents=True, exist_ok=True)
    frames = {name: packed(name) for name in PARTS} | {
        "cost": pl.read_csv(RESULTS / "described/answers/demo-lm/cost.csv")
    }
    for name, frame in frames.items():
        frame.write_parquet(PACKED / f"{name}.parquet", compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
