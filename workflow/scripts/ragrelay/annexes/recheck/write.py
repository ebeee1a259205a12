"""Collect a recheck's results: the table, and the record for provenance and page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ragrelay.annexes.recheck.sentences import lines
from ragrelay.annexes.recheck.summary import changes, equality, table
from ragrelay.base.io.atomic_files import write_csv, write_json
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import ANSWERS_PART
from ragrelay.collection.clusters import numbered_clusters


def recheck(
    answers: KeyedFiles,
    receipts: KeyedFiles,
    scores: KeyedFiles,
    clusters: KeyedFiles,
    margin: float,
    imported: Sequence[str],
    outputs: Mapping[str, str | Path],
    page: str,
) -> Sequence[str]:
    """Write the table (columns summary.COLUMNS) and the record to ``outputs``; returns lines for the terminal.

    Files are keyed by dataset and generator; ``scores`` also by scorer, and ``clusters`` only by dataset. ``imported``:
    generators whose answers come from files.
    """
    parts: list[dict[str, Any]] = []
    rows: list[dict[str, object]] = []
    for key, path in answers.keyed:
        part = {name: key[name] for name in ANSWERS_PART}
        receipt = read_json(receipts.of(part))
        equal = {"n_stored": receipt["stored"], **equality(pl.read_parquet(path))}
        parts.append({**part, **equal, "then": receipt["then"], "now": receipt["now"]})
        of_dataset = clusters.matching(dataset=key["dataset"]).paths
        numbered = numbered_clusters(of_dataset[0] if of_dataset else None)
        of_part = scores.matching(**part).by("scorer")
        scored = [
            {"scorer": scorer, **changes(pl.read_parquet(file), margin, numbered)} for scorer, file in of_part.items()
        ]
        rows += [{**part, **equal, **changed} for changed in scored or [{}]]
    whole = table(rows)
    record = {"parts": parts, "rows": whole.to_dicts(), "imported": list(imported)}
    write_csv(whole, outputs["table"])
    write_json(record, outputs["record"])
    return lines(record, page)
