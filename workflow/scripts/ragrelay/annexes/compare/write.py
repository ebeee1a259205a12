"""Compare two studies: read them, test the differences, and write the page with its tables."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ragrelay.annexes.compare.compared import Compared, SideStudy
from ragrelay.annexes.compare.page import TEMPLATE, render_two
from ragrelay.annexes.compare.paired import paired_tests
from ragrelay.annexes.compare.studies import (
    Finished,
    Pair,
    Pairs,
    before_and_after,
    common_references,
    matched,
    open_study,
    paired_queries,
    pairs_of,
    section_pairs,
    without_counterpart,
)
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_spreadsheet, write_text
from ragrelay.base.vocabulary.names import UNSEEN
from ragrelay.collection.clusters import numbered_clusters
from ragrelay.report.data_hashes import changed_queries
from ragrelay.report.display.palette import looks


def compare_studies(
    before: str | Path,
    after: str | Path,
    pairs: Pairs,
    page: str | Path,
    tests: str | Path,
    queries: str | Path,
    template: str | Path = TEMPLATE,
    several: bool = False,
) -> None:
    """Compare the studies whose results are in the folders ``before`` and ``after``; write the page and two CSV files.

    ``pairs``: section of the grid → name in ``before`` → name in ``after``; equal names needn't be listed, and with
    ``several`` studies names that ``after`` lacks are left out. ``tests`` gets a row per cell and quantity,
    ``queries`` one per query, cell and quantity. Raises InputError if nothing can be compared.
    """
    first, second = open_study(before), open_study(after)
    pairs = pairs_of(second, pairs) if several else pairs
    compared = [_compared(first, second, pair, pairs) for pair in section_pairs(first, second, pairs)]
    write_spreadsheet(pl.concat([_named(part.pair, part.tests) for part in compared]), tests)
    write_spreadsheet(pl.concat([_named(part.pair, part.queries) for part in compared]), queries)
    both = enumerate((first, second))
    sides = [SideStudy(study, study.name, [part.pair.to(at) for part in compared]) for at, study in both]
    write_text(render_two(sides, compared, Path(template)), page)


def _compared(before: Finished, after: Finished, pair: Pair, pairs: Pairs) -> Compared:
    retrievers = matched(before, after, "retrievers", pairs)
    queries = paired_queries(before, after, pair, retrievers)
    if queries["difference"].is_null().all():
        raise InputError(f"{pair.title} of {before.name} and {after.name}", "no common query and cell", "at least one")
    folders = [study.folder / name for study, name in zip((before, after), pair.dataset, strict=True)]
    gold = before.config["scorers"][pair.scorer[0]].get("references", "judged") == "gold"
    changed = changed_queries(folders, gold)
    queries = queries.filter(~pl.col("qid").is_in(list(set().union(*changed.values()))))
    if queries["difference"].is_null().all():
        expected = "some query with the same text and judgements in both, over which a change can be tested"
        raise InputError(f"queries of {pair.title} of {before.name} and {after.name}", _changes(changed), expected)
    grades = common_references(before, after, pair)
    left_out = without_counterpart(before, after, retrievers)
    of_before = looks(before.grid["retrievers"])
    drawn = {before_and_after(name, partner): of_before[name] for name, partner in retrievers}
    known = queries.filter(pl.col("references").str.strip_suffix(UNSEEN).is_in(grades))
    orderings = [name for name in before.grid["orderings"] if name in after.grid["orderings"]]
    placed = known.sort(
        pl.col("retriever").replace_strict(list(drawn), list(range(len(drawn))), return_dtype=pl.Int64),
        pl.col("ordering").replace_strict(orderings, list(range(len(orderings))), default=99, return_dtype=pl.Int64),
        maintain_order=True,
    )
    # Of a study without the key, such a file is what another configuration left.
    tables = [
        study.folder / name / "collection/clusters.parquet"
        for study, name in zip((before, after), pair.dataset, strict=True)
        if study.config["datasets"][name].get("clusters")
    ]
    clusters = numbered_clusters(tables[-1] if tables else None)
    used_clusters = {clusters[qid] for qid in placed.drop_nulls("difference")["qid"]} if clusters else set()
    counts = {kind: len(qids) for kind, qids in changed.items() if qids}
    return Compared(
        pair, grades, drawn, placed, paired_tests(placed, clusters=clusters), left_out, counts, len(used_clusters)
    )


def _changes(changed: Mapping[str, set[str]]) -> str:
    return ", ".join(f"{kind} of {len(qids)} changed" for kind, qids in changed.items() if qids)


def _named(pair: Pair, frame: pl.DataFrame) -> pl.DataFrame:
    names = {
        f"{section}_{side}": getattr(pair, section)[at]
        for section in ("dataset", "generator", "scorer")
        for at, side in enumerate(("before", "after"))
    }
    return frame.select(*(pl.lit(value).alias(name) for name, value in names.items()), pl.all())
