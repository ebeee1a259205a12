"""Read and check imported single-passage answers, and convert them to the format of generated answers."""

from collections.abc import Iterable, Sequence

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import count_missing
from ragrelay.base.io.hashing import value_hash
from ragrelay.collection.base import Collection
from ragrelay.generation.imported.imported_answers import UNJUDGED, WHY_MISSING, answer_rows, check_against

KEY = ["qid", "docno", "seed"]
OTHER_SEEDS = "answers to single passages with a seed outside the grid (left alone)"
PASSAGES = ("answers to ranked passages, for every seed", "ranked passages and seeds without an answer (no label)")
"""Names in messages for the answers that the files should contain, and for missing answers."""


def checked_passages(
    files: Iterable[tuple[str, dict[str, object]]], seeds: Sequence[int], collection: Collection
) -> pl.DataFrame:
    """Read and check single-passage answers from ``files``, which pairs each path with values for all its answers.

    Returns columns place, qid, docno, seed, answer and finish_reason. If an answer has no seed, the first of ``seeds``
    is used. Duplicate answers are allowed, for example in several retrievers' files. Raises InputError if an answer
    isn't based on exactly one passage, if a query or passage is unknown, or if two different answers have the same key.
    """
    rows = answer_rows(files, single=True)
    check_against(rows, collection)
    docno, seed = pl.col("docnos").list.first().alias("docno"), pl.col("seed").fill_null(seeds[0])
    answers = rows.select("place", "qid", docno, seed, "answer", "finish_reason")
    once = answers.unique([*KEY, "answer"], keep="first", maintain_order=True)
    for row in once.filter(once.select(KEY).is_duplicated()).head(1).iter_rows(named=True):
        first, again = once.join(once.filter(place=row["place"]).select(KEY), on=KEY)["place"].head(2)
        found = f"a second answer to query {row['qid']} with passage {row['docno']}, seed {row['seed']}"
        raise InputError(again, f"{found} (first in {first})", "one answer per combination")
    return once


def read_single_answers(
    rows: pl.DataFrame, qids: Sequence[str], ranked: pl.DataFrame, seeds: Sequence[int], place: str
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Select the ``rows`` that the study needs, and count unused and missing answers (`what`, `count`, `of`).

    The selected rows have columns qid, docno, prompt_id, seed, answer and finish_reason, and are sorted by passage,
    then seed. ``qids``: the judged queries. ``ranked``: the passages that need labels (qid, docno). ``place``: how
    messages refer to the files. Raises InputError if none of the ``ranked`` passages has an answer.
    """
    of_seeds = rows.filter(pl.col("seed").is_in(list(seeds)))
    judged = of_seeds.filter(pl.col("qid").is_in(list(qids)))
    needed = ranked.join(pl.DataFrame({"seed": list(seeds)}, schema={"seed": pl.Int64}), how="cross")
    own = judged.join(needed, on=KEY, how="semi").sort(KEY)
    first = "no answer" if rows.is_empty() else "first answer: qid {!r}, docno {!r}, seed {}".format(*rows.row(0)[1:4])
    counts = [
        {"what": OTHER_SEEDS, "count": rows.height - of_seeds.height},
        {"what": UNJUDGED, "count": of_seeds.height - judged.height},
        count_missing(place, own.height, needed.height, PASSAGES, first, "answers to passages of the rankings"),
    ]
    ids = [value_hash([qid, [docno]], digits=64) for qid, docno in own.select("qid", "docno").iter_rows()]
    return own.select("qid", "docno", pl.Series("prompt_id", ids, pl.String), "seed", "answer", WHY_MISSING), counts
