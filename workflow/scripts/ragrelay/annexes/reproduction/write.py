"""Compare a study with published tables, and write the results as tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.reproduction.cells import cells
from ragrelay.annexes.reproduction.findings import COLUMNS as FINDINGS
from ragrelay.annexes.reproduction.findings import paper_findings
from ragrelay.annexes.reproduction.measures import cell_summary, effects
from ragrelay.annexes.reproduction.published import Names, read_published
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CELL, STUDY_PART, named, schema_of
from ragrelay.base.vocabulary.names import ZEROSHOT

File = str | Path
REL = "rel"
"""The published table's name for †'s reference retriever."""
QUERY_COLUMNS = ("retriever", "ordering", "k", "references", "qid", "p", "utility")


def compare_published(
    published: File,
    names: Names,
    files: Mapping[str, Sequence[File]],
    by_query: Mapping[str, KeyedFiles],
    sections: Sequence[Mapping[str, Any]],
    rankings: Sequence[str],
    measure: str,
    outputs: Mapping[str, File],
) -> dict[str, pl.DataFrame]:
    """Write and return the tables reproduced_cells, reproduced_summary, reproduced_effects and reproduced_findings.

    ``files``: the utility and significance files of all sections. ``by_query``: the per_query and retrieval files. The
    findings are tested with the retrieval measure ``measure`` and the retrievers in ``rankings``.
    """
    rows = read_published(published, "utility", names)
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["dataset"]] = sizes.get(row["dataset"], 0) + 1
    conclusions, zeroshot = [pl.DataFrame(schema=schema_of(FINDINGS))], []
    for section in sections:
        of_dataset = by_query["retrieval"].matching(dataset=section["dataset"])
        measured = [
            pl.read_parquet(file).select(pl.lit(name).alias("retriever"), "qid", "measure", "k", "value")
            for name, file in of_dataset.by("retriever").items()
        ]
        utility = pl.read_parquet(by_query["per_query"].of(section), columns=list(QUERY_COLUMNS))
        table = paper_findings(utility, pl.concat(measured), rankings, measure, section["references"])
        part = {name: section[name] for name in STUDY_PART}
        conclusions.append(named(table, part))
        zeroshot.append(named(utility.filter(retriever=ZEROSHOT).sort(*CELL, "qid").drop("utility"), part))
    rel = names.get("retrievers", {}).get(REL, REL)
    compared = cells(rows, files["utility"], files["significance"], pl.concat(zeroshot), rel)
    tables = {"cells": compared, "summary": cell_summary(compared, sizes), "effects": effects(compared),
              "findings": pl.concat(conclusions)}  # fmt: skip
    named_tables = {f"reproduced_{name}": table for name, table in tables.items()}
    for name, table in named_tables.items():
        write_csv(table, outputs[name])
    return named_tables
