"""Labels by gold pages: KILT's records, matched by id or by text, against the titles of passages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.gold_pages import gold_pages, label_by_pages
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection

from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of

QUERIES = pl.DataFrame({"qid": ["1", "2", "3"], "query": ["what pumps blood", "who drinks tea", "why rain"]})
PASSAGES = pl.DataFrame({"qid": ["1", "1", "2", "3", "1"], "docno": ["a", "b", "b", "a", "a"]})
BY_ID = {"id": "1", "input": "x", "output": [{"answer": "the heart"}, {"provenance": [{"title": " heart "}]}]}
BY_TEXT = {"id": "kilt-7", "input": "who drinks tea ", "output": [{"provenance": [{"title": "Tea"}, {"title": "X"}]}]}
STRANGER = {"id": "9", "input": "y", "output": [{"provenance": [{"title": "Tea"}]}]}


def written(folder: Path, *records: Any) -> Path:
    path = folder / "kilt.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def collection(tmp_path: Path) -> LocalCollection:
    rows = [{"doc_id": "a", "text": "one", "title": '"Heart"'}, {"doc_id": "b", "text": "two", "title": "Tea"}]
    (tmp_path / "passages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return LocalCollection(tmp_path)


def test_all_passages_of_a_gold_page_are_relevant(tmp_path: Path, collection: LocalCollection) -> None:
    """A query without a record has no label, and each pair one."""
    made, counts = label_by_pages(PASSAGES, QUERIES, written(tmp_path, BY_ID, BY_TEXT, STRANGER), collection)
    assert [(one["count"], one["of"]["needed"]) for one in counts] == [(1, 3), (0, 2)]
    assert made.select("qid", "docno", "label").rows() == [("1", "a", 1.0), ("1", "b", 0.0), ("2", "b", 1.0)]
    assert made["references"].null_count() == 3


def test_records_belong_to_a_query_by_id_or_text(tmp_path: Path) -> None:
    assert gold_pages(written(tmp_path, BY_ID, BY_TEXT, STRANGER), QUERIES) == {"1": {"heart"}, "2": {"tea", "x"}}


WRONG: dict[str, tuple[list[Any], str]] = {
    "no query": (
        [STRANGER],
        "found no record for a query in the dataset; expected ids or texts of the dataset's queries",
    ),
    "no output": (
        [BY_ID, {"id": "2"}],
        "line 2: found a record in another format; expected output with titles in provenance",
    ),
    "no title": ([{"id": "1", "output": [{"provenance": [{"wikipedia_id": 5}]}]}], "line 1: found a record in"),
    "a list": ([[1]], "line 1: found a list; expected a JSON object"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_files(tmp_path: Path, case: str) -> None:
    records, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        gold_pages(written(tmp_path, *records), QUERIES)


def test_pages_of_another_corpus(tmp_path: Path, collection: LocalCollection) -> None:
    """No passage of any query would be relevant."""
    other = {"id": "1", "output": [{"provenance": [{"title": "Lungs"}]}]}
    message = r"none of the queries with a ranked passage of a gold page \(one of the titles: 'lungs'\); expected t"
    with pytest.raises(InputError, match=message):
        label_by_pages(PASSAGES, QUERIES, written(tmp_path, other), collection)


def test_passages_need_titles(tmp_path: Path, write_dataset: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="found passages without titles; expected a corpus whose passages have titles"):
        label_by_pages(
            PASSAGES.with_columns(docno=pl.lit("d1")),
            QUERIES,
            written(tmp_path, BY_ID),
            LocalCollection(write_dataset()),
        )


def test_a_file_for_every_dataset(config: dict[str, Any], tmp_path: Path) -> None:
    config["annotations"] = {"kilt": {"kind": "provenance", "path": "{dataset}.jsonl"}}
    config["grid"]["annotations"] = ["kilt"]
    (dataset,) = config["grid"]["datasets"]
    check_error(
        config, tmp_path, ["'annotations.kilt.path'", f"no file {tmp_path}/{dataset}.jsonl", "in KILT's format"]
    )
    (tmp_path / f"{dataset}.jsonl").touch()
    assert study_of(config, tmp_path).config["annotations"]["kilt"]["kind"] == "provenance"
