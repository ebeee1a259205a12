"""Build contexts from each ranking's top passages that have a text; the depth doesn't depend on k."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, Column, integer, number, text
from ragrelay.collection.base import Collection

COLUMNS = {
    "qid": QID,
    "rank": integer("rank among the passages with text, counted from 1", "passages"),
    "docno": DOCNO,
    "score": number("the retriever's score"),
    "label": LABEL._replace(about="the passage's label in the judgements; empty if the passage is unjudged"),
    "text": text("the passage's text"),
}
PROCESSED_COLUMNS = {
    **COLUMNS,
    "shown": Column(pl.List(pl.Struct({"k": pl.Int64, "text": pl.String})), "for retrievers of kind `processed`: the "
        "passage's processed text in the context with k passages, for each k in the grid; empty if the processor "
        "removed all of the text", optional=True),
    "places": Column(pl.List(pl.Int64), "if a processor moved passages: each shown text's position in the context, "
                                        "counted from 1; the query's rows then follow the order in the query's "
                                        "largest context", optional=True),
}  # fmt: skip
SKIPPED_COLUMNS = {
    "qid": QID,
    "docno": DOCNO,
    "before": integer("number of passages with text that are ranked above the skipped passage", "passages"),
}

NO_RESULTS, NO_TEXT = "queries without results", "retrieved passages without text in the top {k}"
FEWER = "queries with fewer than {}"
IDENTICAL_IDS = "the dataset's key drop_identical_ids says whether to leave it out"
"""The warning if a query's context may contain the passage that has the query's id."""
EMPTIED_CONTEXTS = "contexts emptied by the processor at k = {k}"
EMPTIED = "prompts show little of what was retrieved: see the processor's budget"
"""The warning if a processor leaves most passages without any text."""
EMPTY = {
    "zero": "their answers without passages count instead, so P = P0 there",
    "left_out": "the retriever's results leave them out",
}
"""For each value of `analysis.empty_rankings`, what happens to queries for which a retriever finds nothing."""
MANY = 0.05
"""There are warnings if the shares of passages without text, of queries without results or with fewer than k passages,
and of emptied contexts add up to more than this for a retriever."""


def shown_texts(contexts: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return the passages in each query's context of ``k`` passages, with the texts that prompts show.

    A text is the passage's original text or a processor's version (column ``shown``). Passages emptied by a processor
    are left out. Orderings sort by the column ``place``: the rank or, if a processor moved passages, the new position.
    """
    top = contexts.filter(pl.col("rank") <= k)
    if "shown" not in contexts.columns:
        return top.with_columns(place="rank")
    lists = [name for name in ("shown", "places") if name in contexts.columns]
    of_k = top.drop("text").explode(lists, empty_as_null=False, keep_nulls=False).unnest("shown").filter(k=k).drop("k")
    return of_k.with_columns(place="places" if "places" in lists else "rank").drop("places", strict=False)


def build_contexts(
    run: pl.DataFrame, qrels: pl.DataFrame, collection: Collection, depth: int, place: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return each query's first ``depth`` passages with text, and the passages skipped because they have no text.

    ``run`` has qid, docno, rank and score, sorted by rank. A passage without text is replaced by the next one. Returns
    the contexts (COLUMNS) and the skipped passages that would have ranked within ``depth`` (SKIPPED_COLUMNS). Raises
    InputError if no passage in the run has a text.
    """
    with_text = _with_text(run, collection, depth)
    contexts = (
        with_text.drop_nulls("text")
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("qid"))
        .filter(pl.col("rank") <= depth)
        .join(qrels, on=["qid", "docno"], how="left", maintain_order="left")
        .select(*COLUMNS)
    )
    if contexts.is_empty():
        raise InputError(place, "no retrieved passage with text in the collection", "docnos of the dataset's passages")
    before = pl.col("text").is_not_null().cum_sum().over("qid").cast(pl.Int64)
    skipped = with_text.with_columns(before=before).filter(pl.col("text").is_null(), pl.col("before") < depth)
    return contexts, skipped.select(*SKIPPED_COLUMNS)


def count_left_out(
    contexts: pl.DataFrame, skipped: pl.DataFrame, queries: pl.DataFrame, ks: list[int], identical_ids: bool = False
) -> list[dict[str, Any]]:
    """Count missing results, missing texts, unjudged passages, and contexts shorter than each k in ``ks``.

    Returns mappings with the keys `what` and `count`. For ``contexts`` and ``skipped``, see build_contexts. With
    ``identical_ids``, also count (and warn about) queries whose contexts include a passage with the query's own id.
    """
    deepest = max(ks)
    lengths = contexts.group_by("qid").len()
    unjudged = contexts.filter(pl.col("label").is_null(), pl.col("rank") <= deepest)
    counts = {
        NO_RESULTS: len(queries) - len(lengths),
        NO_TEXT.format(k=deepest): skipped.filter(pl.col("before") < deepest).height,
        f"unjudged passages in the top {deepest} (kept; they count as not relevant)": unjudged.height,
        **{FEWER.format(_passages(k)): lengths.filter(pl.col("len") < k).height for k in sorted(ks)},
    }
    identical = contexts.filter(pl.col("rank") <= deepest, pl.col("qid") == pl.col("docno")).height
    what = f"queries with the passage of their own id in the top {deepest}"
    warned = [{"what": what, "count": identical, "warning": IDENTICAL_IDS}] if identical_ids and identical else []
    emptied = [row for k in sorted(ks) for row in _emptied(contexts, k)] if "shown" in contexts.columns else []
    return [*({"what": what, "count": count} for what, count in counts.items()), *warned, *emptied]


def context_warnings(
    contexts: pl.DataFrame, skipped: pl.DataFrame, queries: pl.DataFrame, ks: list[int], place: str, empty: str | None
) -> dict[str, dict[str, str]]:
    """Return warnings for the counts from count_left_out if the shares of affected data add up to more than MANY.

    ``place``: the path of the tables from build_contexts, without suffix. ``empty``: a key in EMPTY, or None if the
    retriever needn't return results for every query.
    """
    asked = len(queries)
    lacking = skipped.filter(pl.col("before") < max(ks))["docno"]
    highest = len(lacking) + contexts.filter(pl.col("rank") <= max(ks)).height
    without = queries.join(contexts, on="qid", how="anti")["qid"]
    short = int((contexts.group_by("qid").len()["len"] < max(ks)).sum())
    first, lost = next(iter(lacking), ""), next(iter(without), "")
    kinds = {
        NO_TEXT.format(k=max(ks)): (
            len(lacking) / max(highest, 1),
            f"the collection has no text for {len(lacking):,} of the {highest:,} passages that rank highest, such as "
            f"{first} ({place}.skipped.parquet); passages from lower ranks took their place",
        )
    }
    if empty:
        none = f", {len(without):,} of them none" if len(without) else ""
        kinds[NO_RESULTS] = (
            len(without) / asked,
            f"{len(without):,} of {asked:,} queries have no results, such as {lost} ({place}.parquet); {EMPTY[empty]}",
        )
        kinds[FEWER.format(_passages(max(ks)))] = (
            short / asked,
            f"{short + len(without):,} of {asked:,} queries have fewer than {_passages(max(ks))}{none} "
            f"({place}.parquet), so their contexts are shorter",
        )
    if "shown" in contexts.columns:
        of = contexts["qid"].n_unique()
        emptied, k = max((of - shown_texts(contexts, k)["qid"].n_unique(), k) for k in ks)
        kinds[EMPTIED_CONTEXTS.format(k=k)] = (
            emptied / of,
            f"the processor emptied {emptied:,} of {of:,} contexts at k = {k} ({place}.parquet); their prompts are "
            "those without context, so P = P0 there",
        )
    if sum(share for share, _ in kinds.values()) <= MANY:
        return {}
    return {what: {"sentence": sentence} for what, (share, sentence) in kinds.items() if share}


def _passages(k: int) -> str:
    return f"{k} passage{'s' if k > 1 else ''}"


def _emptied(contexts: pl.DataFrame, k: int) -> Iterator[dict[str, object]]:
    """Yield counts of contexts and passages that a processor emptied, with a warning if it emptied most passages."""
    given, left = contexts.filter(pl.col("rank") <= k).height, shown_texts(contexts, k)
    yield {"what": EMPTIED_CONTEXTS.format(k=k), "count": contexts["qid"].n_unique() - left["qid"].n_unique()}
    what = f"passages emptied by the processor at k = {k}"
    row = {"what": what, "count": given - left.height, "of": {"total": given}}
    yield {**row, "warning": EMPTIED} if left.height < given / 2 else row


def _with_text(run: pl.DataFrame, collection: Collection, depth: int) -> pl.DataFrame:
    """Add a column text (null if there is none) to ``run``, deep enough for ``depth`` passages with text per query."""
    # Look up a few more than needed, so that some passages without text don't require a second lookup.
    near = pl.col("rank") <= 2 * depth + 20
    texts = collection.texts(run.filter(near)["docno"].unique().to_list())
    has_text = pl.col("docno").is_in(list(texts))
    short = run.filter(near).group_by("qid").agg(have=has_text.sum()).filter(pl.col("have") < depth)["qid"]
    is_short = pl.col("qid").is_in(short.implode())
    texts = texts | collection.texts(run.filter(is_short & ~near)["docno"].unique().to_list())
    text = pl.col("docno").replace_strict(texts, default=None, return_dtype=pl.String)
    return run.filter(near | is_short).with_columns(text=text)
