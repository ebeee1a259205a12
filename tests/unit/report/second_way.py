"""Helpers of tests that compute the numbers of a page's sentences a second way."""

import functools
import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from tests.support.measured_study import Measured
from tests.support.measured_study import demo as make_demo
from tests.support.measured_study import pool as make_pool
from tests.unit.report.test_every_sentence import (
    no_pool,
    num,
)

Array = npt.NDArray[np.float64]


def agree(found: Iterable[str], expected: Iterable[str]) -> None:
    """Each text of ``found`` is that of ``expected`` in its place, drawn numbers within their tolerance."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected), found
    for text, wanted in zip(found, expected, strict=True):
        drawn = re.findall(r"\{(−?[\d.]+)~([\d.]+)\}", wanted)
        pattern = r"(−?[\d.]+|<0.001)".join(map(re.escape, re.split(r"\{−?[\d.]+~[\d.]+\}", wanted)))
        match = re.fullmatch(pattern, text)
        assert match, f"\non the page:     {text}\nfrom the scores: {wanted}"
        for said, (value, within) in zip(match.groups(), drawn, strict=True):
            assert abs(read(said) - read(value)) <= float(within), f"{said} in: {text}\nfrom the scores: {wanted}"


def read(text: str) -> float:
    return float(text.replace("−", "-").replace("<0.001", "0.0005"))


def drawn(value: float, within: float, digits: int = 2) -> str:
    return "{" + f"{num(value, digits)}~{within}" + "}"


def per_query(measured: Measured) -> pl.DataFrame:
    """retriever, ordering, k, references, qid, p, p0, utility: means over seeds, without the analysis."""
    means = measured.scores.group_by("retriever", "ordering", "k", "references", "qid").agg(p=pl.col("f1").mean())
    zero = means.filter(retriever="zeroshot").select("references", "qid", p0="p")
    found = means.filter(pl.col("k") > 0, pl.col("ordering") != "none").join(zero, on=["references", "qid"])
    relative = pl.when(pl.col("p0") > 0).then((pl.col("p") - pl.col("p0")) / pl.col("p0"))
    return found.with_columns(utility=relative).sort("retriever", "ordering", "k", "references", "qid")


demo, pool = functools.cache(make_demo), functools.cache(make_pool)
MADE = [demo, pytest.param(pool, marks=no_pool)]
