"""Label passages by whether they come from a gold page: a page that a file lists as a source of the query's answer.

KILT (Petroni et al., NAACL 2021) identifies pages by title. As in Salemi and Zamani (SIGIR 2024), all passages of a
gold page count as relevant.
"""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import count_missing
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.text_lines import numbered_lines
from ragrelay.base.vocabulary.columns import DOCNO, QID, number, schema_of, text
from ragrelay.collection.base import Collection

log = logging.getLogger(__name__)
COLUMNS = {
    "references": text("always empty, because the label is the same for all reference sets"),
    "qid": QID,
    "docno": DOCNO,
    "label": number("1 for a passage from a gold page, else 0"),
}


QUERIES = ("queries", "queries without a record in the file (left out)")
PAGES = (
    "queries with a ranked passage of a gold page",
    "queries without a ranked passage of a gold page (all their passages count as 0)",
)
"""For records and for gold pages: names of all queries, and of the count of queries without one."""


def label_by_pages(
    passages: pl.DataFrame, queries: pl.DataFrame, path: Path, collection: Collection
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Label the ``passages`` (qid, docno) of all ``queries`` (qid, query) that have gold pages in ``path``.

    Returns the labels (COLUMNS), and counts of queries without gold pages and of queries without a passage from a gold
    page. Titles are compared ignoring case and surrounding quotation marks. The log gives the number of records that
    belong to no query. Raises InputError for a malformed line, and if no record belongs to a query, no passage has a
    title, or no passage belongs to a gold page.
    """
    pages = gold_pages(path, queries)
    titles = collection.titles(passages["docno"].unique(maintain_order=True))
    if not titles:
        raise InputError(path, "passages without titles", "a corpus whose passages have titles")
    known = passages.select("qid", "docno").unique(maintain_order=True).filter(pl.col("qid").is_in(list(pages)))
    labels = [float(_title(titles.get(docno, "")) in pages[qid]) for qid, docno in known.iter_rows()]
    labelled = known.with_columns(references=pl.lit(None, pl.String), label=pl.Series(labels, dtype=pl.Float64))
    with_passage = labelled.filter(pl.col("label") > 0)["qid"].n_unique()
    title = min(set().union(*pages.values()), default="")
    counts = [
        count_missing(path, len(pages), queries.height, QUERIES, "only other queries", "the dataset's queries"),
        count_missing(path, with_passage, len(pages), PAGES, f"one of the titles: {title!r}", "titles of the corpus"),
    ]
    return labelled.select(pl.col(name).cast(kind) for name, kind in schema_of(COLUMNS).items()), counts


def gold_pages(path: Path, queries: pl.DataFrame) -> dict[str, set[str]]:
    """Return the titles of the gold pages, keyed by qid, for all ``queries`` with a record in ``path``."""
    qids = set(queries["qid"])
    by_text = {query: qid for qid, query in queries.select("qid", "query").iter_rows()}
    pages: dict[str, set[str]] = {}
    n_others = 0
    for line_number, line in numbered_lines(path):
        record = json_record(path, line_number, line)
        name = record["id"] if record.get("id") in qids else by_text.get(str(record.get("input", "")).strip())
        if name is None:
            n_others += 1
        else:
            pages.setdefault(name, set()).update(_titles(f"{path}, line {line_number}", record))
    if not pages:
        raise InputError(path, "no record for a query in the dataset", "ids or texts of the dataset's queries")
    log.info("%s: found pages for %d of %d queries; other records: %d", path, len(pages), queries.height, n_others)
    return pages


def _titles(place: str, record: Mapping[str, Any]) -> Iterable[str]:
    try:
        return [_title(page["title"]) for output in record["output"] for page in output.get("provenance") or []]
    except (KeyError, TypeError, AttributeError):
        raise InputError(place, "a record in another format", "output with titles in provenance, as in KILT") from None


def _title(title: str) -> str:
    return title.strip().strip('"').casefold()
