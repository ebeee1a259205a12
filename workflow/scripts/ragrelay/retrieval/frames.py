"""Convert between ragrelay's polars frames and PyTerrier's pandas frames."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.collection.base import Collection
from ragrelay.retrieval.trec import RUN

if TYPE_CHECKING:
    import pandas as pd


def as_queries(queries: pl.DataFrame) -> "pd.DataFrame":
    """Convert queries to PyTerrier topics (qid, query)."""
    import pandas as pd

    return pd.DataFrame({"qid": queries["qid"].to_list(), "query": queries["query"].to_list()})


def as_results(queries: pl.DataFrame, run: pl.DataFrame, texts: Mapping[str, str]) -> "pd.DataFrame":
    """Convert a run's passages that have a text to PyTerrier results (qid, query, docno, text, score, rank from 0)."""
    import pandas as pd

    query_of = dict(queries.select("qid", "query").iter_rows())
    rows = [
        (qid, query_of[qid], docno, texts[docno], score, rank - 1)
        for qid, docno, rank, score in run.select("qid", "docno", "rank", "score").iter_rows()
        if docno in texts
    ]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])


def as_run(results: "pd.DataFrame") -> pl.DataFrame:
    """Convert PyTerrier results to a run (qid, docno, score)."""
    columns = {name: results[name].tolist() for name in RUN}
    return pl.DataFrame(columns, schema=RUN)


def check_texts(place: str, results: "pd.DataFrame", collection: Collection) -> None:
    """Raise InputError if a text in ``results`` differs from the passage's text in ``collection``.

    Prompts show the collection's text. Whitespace, missing texts, and passages outside the collection are ignored.
    """
    if "text" not in results.columns:
        return
    given = results[["docno", "text"]].dropna().drop_duplicates().astype(str)
    texts = collection.texts(given["docno"].unique().tolist())
    known = given[given["docno"].isin(list(texts))]
    differ = [docno for docno, text in known.itertuples(index=False) if text.split() != texts[docno].split()]
    if differ:
        found = (
            f"texts of {len(differ)} of {len(known)} passages that differ from the collection's, such as {differ[0]!r}"
        )
        expected = "the collection's texts, which prompts use, or no column text"
        raise InputError(place, found, expected)


def check_ranks(place: str, results: "pd.DataFrame", given: "pd.DataFrame") -> None:
    """Raise InputError if ``results`` and ``given`` have the same scores for the same passages but different ranks."""
    if "rank" not in results.columns:
        return
    both = results.merge(given[["qid", "docno", "score", "rank"]], on=["qid", "docno"], suffixes=("", "_given"))
    orders = [both.sort_values(["qid", rank], kind="stable")["docno"].tolist() for rank in ("rank", "rank_given")]
    if (both["score"] == both["score_given"]).all() and orders[0] != orders[1]:
        raise InputError(
            place,
            "new ranks with the first stage's scores",
            "scores that fall with the rank, because passages are ordered by score",
        )
