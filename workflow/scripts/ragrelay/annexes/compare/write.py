"""Compare each study with the first: read the results, test the differences, and write the page and the tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.annexes.compare import paired, studies
from ragrelay.annexes.compare.compared import Compared, SideStudy
from ragrelay.annexes.compare.page import TEMPLATE, render
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
    after: Sequence[str | Path],
    pairs: Pairs,
    page: str | Path,
    tests: str | Path,
    queries: str | Path,
    template: str | Path = TEMPLATE,
) -> None:
    """Compare each study in the folders ``after`` with the study in ``before``, and write a page and two CSV files.

    ``pairs`` maps names in ``before`` to different names in ``after``, for each section of the grid; each name must
    exist in at least one of the studies. ``tests`` has a row per cell and quantity; ``queries`` has a row per query,
    cell and quantity. Raises InputError if there is nothing to compare, or if a name in ``pairs`` is in no study.
    """
    first, *others = map(open_study, (before, *after))
    if several := len(others) > 1:
        _check_pairs(others, pairs)
    first_label, *labels = _labelled([first, *others])
    compared = []
    for label, study in zip(labels, others, strict=True):
        own = pairs_of(study, pairs) if several else pairs
        compared += [_compared(first, study, label, pair, own) for pair in section_pairs(first, study, own)]
    if several:
        compared = _corrected(compared)
    write_spreadsheet(pl.concat([_named(part, part.tests) for part in compared]).select(*paired.COLUMNS), tests)
    write_spreadsheet(pl.concat([_named(part, part.queries) for part in compared]).select(*studies.COLUMNS), queries)
    sides = [SideStudy(first, first_label, list(dict.fromkeys(part.pair.to(0) for part in compared)))]
    for label, study in zip(labels, others, strict=True):
        partners = matched(first, study, "retrievers", pairs_of(study, pairs) if several else pairs)
        sides.append(SideStudy(study, label, [part.pair.to(1) for part in compared if part.label == label], partners))
    write_text(render(sides, compared, Path(template)), page)


def _labelled(opened: Sequence[Finished]) -> list[str]:
    """Return a label for each study: its name, and its folder if several studies have the same name."""
    names = Counter(study.name for study in opened)
    alone = len(opened) == len(("before", "after"))
    return [one.name if alone or names[one.name] == 1 else f"{one.name} ({one.folder})" for one in opened]


def _check_pairs(others: Sequence[Finished], pairs: Pairs) -> None:
    for section, named in pairs.items():
        known = sorted({name for study in others for name in study.grid[section]})
        for name in named.values():
            if name not in known:
                raise InputError(f"config key 'compare.pairs.{section}'", repr(name), f"a name in a study: {known}")


def _corrected(compared: Sequence[Compared]) -> list[Compared]:
    """Adjust p-values over all studies, for each dataset, generator and scorer of the first study."""
    whole = [part.tests.select(*paired.TABLE).with_columns(study=pl.lit(part.label)) for part in compared]
    tables = {}
    for pair in dict.fromkeys(part.pair.to(0) for part in compared):
        rows = pl.concat([rows for part, rows in zip(compared, whole, strict=True) if part.pair.to(0) == pair])
        tables[pair] = with_adjusted(rows, paired.FAMILY, {"p_verdict": "p"}, cells=("study", "retriever", "ordering"))
    return [replace(part, tests=tables[part.pair.to(0)].filter(study=part.label).drop("study")) for part in compared]


def _compared(before: Finished, after: Finished, label: str, pair: Pair, pairs: Pairs) -> Compared:
    retrievers = matched(before, after, "retrievers", pairs)
    queries = paired_queries(before, after, pair, retrievers)
    if queries["difference"].is_null().all():
        raise InputError(f"{pair.title} of {before.name} and {after.name}", "no common query and cell", "at least one")
    folders = [study.folder / name for study, name in zip((before, after), pair.dataset, strict=True)]
    gold = before.config["scorers"][pair.scorer[0]].get("references", "judged") == "gold"
    changed = changed_queries(folders, gold)
    queries = queries.filter(~pl.col("qid").is_in(list(set().union(*changed.values()))))
    if queries["difference"].is_null().all():
        expected = "at least one query with the same text and judgements in both studies"
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
    # If the study lacks the key, such a file was left by an earlier configuration.
    tables = [
        study.folder / name / "collection/clusters.parquet"
        for study, name in zip((before, after), pair.dataset, strict=True)
        if study.config["datasets"][name].get("clusters")
    ]
    clusters = numbered_clusters(tables[-1] if tables else None)
    used_clusters = {clusters[qid] for qid in placed.drop_nulls("difference")["qid"]} if clusters else set()
    counts = {kind: len(qids) for kind, qids in changed.items() if qids}
    tests = paired.paired_tests(placed, clusters=clusters)
    return Compared(pair, grades, drawn, placed, tests, left_out, counts, len(used_clusters), label)


def _changes(changed: Mapping[str, set[str]]) -> str:
    return ", ".join(f"{kind} of {len(qids)} changed" for kind, qids in changed.items() if qids)


def _named(part: Compared, frame: pl.DataFrame) -> pl.DataFrame:
    names = {
        f"{section}_{side}": getattr(part.pair, section)[at]
        for section in ("dataset", "generator", "scorer")
        for at, side in enumerate(("before", "after"))
    }
    return frame.with_columns(study=pl.lit(part.label), **{name: pl.lit(value) for name, value in names.items()})
