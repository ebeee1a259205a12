"""Context candidates: the best passages with text of each query's ranking, to a fixed depth."""

from typing import Any

import polars as pl

from ragrelay.collection.base import Collection
from ragrelay.errors import InputError


def build_contexts(
    run: pl.DataFrame,
    queries: pl.DataFrame,
    qrels: pl.DataFrame,
    collection: Collection,
    depth: int,
    ks: list[int],
    place: str,
) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """The first ``depth`` passages with text per query.

    ``run`` has qid, docno, rank, score in rank order. Returns qid, rank (renumbered from 1), docno, score, label
    (null = unjudged), text, and the counts of what was left out. A passage without text is skipped and the
    next one taken; fewer than k are allowed. Raises InputError where no passage of the run has a text.
    """
    with_text = _with_text(run, collection, depth)
    contexts = (
        with_text.drop_nulls("text")
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("qid"))
        .filter(pl.col("rank") <= depth)
        .join(qrels, on=["qid", "docno"], how="left", maintain_order="left")
        .select("qid", "rank", "docno", "score", "label", "text")
    )
    if contexts.is_empty():
        raise InputError(
            place, "no retrieved passage with a text in the collection", "docnos of the dataset's passages"
        )
    lengths = contexts.group_by("qid").len()
    left_out = [
        {"what": "queries without results", "count": len(queries) - len(lengths)},
        {"what": f"retrieved passages without text in the top {max(ks)}", "count": _skipped(with_text, max(ks))},
        {
            "what": f"unjudged passages in the top {max(ks)} (kept; they count as not relevant)",
            "count": contexts.filter(pl.col("label").is_null(), pl.col("rank") <= max(ks)).height,
        },
    ]
    left_out += [
        {"what": f"queries with fewer than {k} passages", "count": lengths.filter(pl.col("len") < k).height}
        for k in sorted(ks)
    ]
    return contexts, left_out


def _with_text(run: pl.DataFrame, collection: Collection, depth: int) -> pl.DataFrame:
    """``run`` with a column text (null = none), as deep as each query needs for ``depth`` passages with text."""
    # A few more than asked are looked up, so that the usual few without text cost no second look-up.
    near = pl.col("rank") <= 2 * depth + 20
    texts = collection.texts(run.filter(near)["docno"].unique().to_list())
    has_text = pl.col("docno").is_in(list(texts))
    short = run.filter(near).group_by("qid").agg(have=has_text.sum()).filter(pl.col("have") < depth)["qid"]
    is_short = pl.col("qid").is_in(short.implode())
    texts = texts | collection.texts(run.filter(is_short & ~near)["docno"].unique().to_list())
    text = pl.col("docno").replace_strict(texts, default=None, return_dtype=pl.String)
    return run.filter(near | is_short).with_columns(text=text)


def _skipped(with_text: pl.DataFrame, k: int) -> int:
    """Passages without text that stood before the k-th one with text."""
    before = pl.col("text").is_not_null().cum_sum().over("qid")
    return with_text.filter(pl.col("text").is_null() & (before < k)).height
