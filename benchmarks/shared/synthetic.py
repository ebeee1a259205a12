"""A collection of drawn texts of any size, and an answer store filled without a model."""

import json
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from ragrelay.config.start import start
from ragrelay.generation.store import SCHEMA, AnswerStore
from snakemake.utils import update_config

from benchmarks.shared.workflow import ROOT

ENDINGS = ("ar", "en", "ila", "ot", "usk", "ymor")
WORDS = np.array([first + last for first in "bcdfghjklmnprstv" for last in ENDINGS])
DEPTH = 20  # passages of a run


def write_collection(folder: Path, queries: int, runs: dict[str, float]) -> None:
    """A local collection in ``folder`` and a run file per name; ``runs``: name to share of relevant passages.

    Each query has one passage labelled 1 or more (1 + Poisson(0.1), as MS MARCO's dev queries) among its own 25.
    """
    random = np.random.default_rng(1)
    folder.mkdir()
    qids = [str(1_000_000 + place) for place in range(queries)]
    relevant = np.minimum(1 + random.poisson(0.1, queries), 5)
    with (folder / "passages.jsonl").open("w") as passages, (folder / "queries.tsv").open("w") as asked:
        for qid in qids:
            asked.write(f"{qid}\t{_text(random, 6)}\n")
            for place in range(25):
                passages.write(json.dumps({"doc_id": f"{qid}-{place}", "text": _text(random, 40)}) + "\n")
    with (folder / "qrels.txt").open("w") as qrels:
        for qid, n in zip(qids, relevant, strict=True):
            qrels.writelines(f"{qid} 0 {qid}-{place} {int(place < n)}\n" for place in range(8))
    for name, share in runs.items():
        with (folder / f"{name}.run").open("w") as run:
            for qid, n in zip(qids, relevant, strict=True):
                places = random.permutation(25)
                if random.random() < share:
                    places = np.concatenate([random.permutation(n), places[places >= n]])
                for rank, place in enumerate(places[:DEPTH], 1):
                    run.write(f"{qid} Q0 {qid}-{place} {rank} {100 - rank} {name}\n")


def fill_store(folder: Path, overlay: dict[str, Any], prompts: Sequence[Path], seeds: Sequence[int]) -> int:
    """Answer every prompt and seed with drawn words in the store of the study in ``folder``; returns the answers."""
    random = np.random.default_rng(2)
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    update_config(config, overlay)
    with chdir(folder):
        _, fingerprints = start(config)
    (fingerprint,) = fingerprints.values()
    store, made = AnswerStore(folder / "cache", fingerprint), 0
    ids = pl.scan_parquet(prompts).select("prompt_id").unique(maintain_order=True).collect()["prompt_id"]
    for start_row in range(0, len(ids), 20_000):
        keys = ids.slice(start_row, 20_000).to_frame().join(pl.DataFrame({"seed": list(seeds)}), how="cross")
        counts = {name: pl.lit(9, kind) for name, kind in SCHEMA.items() if name.endswith("tokens")}
        rows = keys.with_columns(
            answer=pl.Series([_text(random, 20) for _ in range(len(keys))]),
            finish_reason=pl.lit("stop"), logprob=pl.lit(-1.0), dropped_passages=pl.lit(0, pl.Int64), **counts,
            token_logprobs=pl.lit([-1 / 9] * 9, SCHEMA["token_logprobs"]),
            token_entropies=pl.lit([0.1] * 9, SCHEMA["token_entropies"]),
            first_token_margin=pl.lit(0.1, SCHEMA["first_token_margin"]),
        )  # fmt: skip
        store.add(rows.select(*SCHEMA), {"engine": "drawn"})
        made += len(rows)
    return made


def _text(random: np.random.Generator, words: int) -> str:
    return " ".join(random.choice(WORDS, words))
