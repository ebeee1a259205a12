"""The small study with processed retrievers, and what annexes add, run to its page by the demo's model."""

import re
from pathlib import Path

import polars as pl

from tests.support.annex_cases import add_of_annexes, targets
from tests.support.sandbox import Sandbox

HALVED = """
import re

def every_second(query, passages, first=0):
    sentences = ((docno, re.split(r"(?<=[.!?])\\s+", text)) for docno, text in passages)
    return [(docno, " ".join(some[first::2])) for docno, some in sentences]

def backwards(query, passages):
    return passages[::-1]

def fails(query, passages):
    return passages[0].title
"""
RETRIEVERS = {
    "halved": {"kind": "processed", "of": "bm25", "processor": {"kind": "python", "function": "halves:every_second"}},
    "turned": {"kind": "processed", "of": "bm25", "processor": {"kind": "python", "function": "halves:backwards"}},
    "short": {"kind": "processed", "of": "bm25", "processor": {"kind": "nearest_sentences", "tokens": 60}},
}


def processed_study(finished: Sandbox, folder: Path) -> None:
    """Run it in ``folder`` to its page and to the targets that read contexts."""
    study = finished.copied_to(folder)
    (study.folder / "halves.py").write_text(HALVED, encoding="utf-8")
    chosen = {"retrievers": ["bm25", "rel", *RETRIEVERS], "orderings": ["descending"]}
    study.config |= {"retrievers": RETRIEVERS, "grid": {**study.config["grid"], **chosen}}
    add_of_annexes(study, "processed")
    study.write_config()
    study.snakemake(*targets("processed"), "report")


def table(study: Sandbox, path: str) -> pl.DataFrame:
    return pl.read_parquet(study.results / "small" / path)


def every_second(text: str) -> str:
    return " ".join(re.split(r"(?<=[.!?])\s+", text)[::2])
