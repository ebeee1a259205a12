"""The provenance has a hash of each source's labels."""

from pathlib import Path

import polars as pl
from ragrelay.annexes.labels.data_hashes import label_hashes

CONFIG = {"grid": {"scorers": ["s"], "generators": ["lm"]}}


def test_hashes_of_labels_follow_their_source_alone(tmp_path: Path) -> None:
    """Labels of one source that change leave the hashes of the others as they are."""
    labels = tmp_path / "demo/annotations/labels/s/lm/labels.parquet"
    assert label_hashes(tmp_path, "demo", CONFIG) == {}
    labels.parent.mkdir(parents=True)
    rows = [("qrels", "lenient", "q1", "d1", 3.0), ("llm", "lenient", "q1", "d1", 1.0)]
    table = pl.DataFrame(rows, schema=["source", "references", "qid", "docno", "label"], orient="row")
    table.write_parquet(labels)
    found = label_hashes(tmp_path, "demo", CONFIG)
    assert found["labels llm, s, lm"]["count"] == 1 and "labels qrels, s, lm" in found
    table.with_columns(label=pl.when(source="llm").then(2.0).otherwise("label")).write_parquet(labels)
    again = label_hashes(tmp_path, "demo", CONFIG)
    assert {name for name in found if found[name] != again[name]} == {"labels llm, s, lm"}


def test_labels_of_another_study_are_not_read(tmp_path: Path) -> None:
    """A table that the grid does not have is none of its inputs: a job may be writing it."""
    other = tmp_path / "demo/annotations/labels/other/lm/labels.parquet"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"half")
    assert label_hashes(tmp_path, "demo", CONFIG) == {}
