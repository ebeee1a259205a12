"""A kind of annotation source is one file: dropped in, it is in the schema, the reference, the checks, and labels."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.source import (
    ANNOTATION_KINDS,
    BY_ANSWERS,
    BY_FILE,
    BY_JUDGE,
    BY_PAGES,
    BY_ZEROSHOT,
    SourceData,
)
from ragrelay.annexes.labels.study_labels import LabelledFiles, LabelMeasures, Sources, measure_labels
from ragrelay.base.errors import InputError

from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of
from tests.unit.kinds.conftest import Drop

SHORT = '''"""Short passages."""

import polars as pl
from pydantic import Field

from ragrelay.annexes.labels.source import AnnotationSource
from ragrelay.base.errors import InputError


class Short(AnnotationSource):
    """1 where the passage is short."""

    words: int = Field(3, ge=1, description="Most words of a short passage.")

    def check(self, place, study):
        super().check(place, study)
        if self.words > 99:
            raise InputError(f"{place}.words'", str(self.words), "fewer words")

    def labels(self, given):
        short = pl.col("text").str.split(" ").list.len() <= self.words
        return given.everywhere(given.passages.with_columns(short.cast(pl.Int64).alias("label")))
'''
PASSAGES = pl.DataFrame(
    {"qid": ["1", "1", "2"], "docno": ["x", "y", "z"], "text": ["the red fox", "a fox and a hen", "one hen"]}
)
GIVEN = SourceData(
    PASSAGES,
    {"1": "who is red", "2": "what is a hen"},
    pl.DataFrame(schema={"qid": pl.String, "docno": pl.String, "label": pl.Int64}),
    {},
    ["lenient", "lenient-unseen"],
)


def labels(definition: dict[str, Any], made: pl.DataFrame | None = None) -> dict[tuple[str, str], list[float]]:
    """Labels by reference set and query, in the order of the passages."""
    found = Sources(GIVEN, {"it": definition}, {} if made is None else {"it": made}).labels(["it"])
    return {
        (str(key[0]), str(key[1])): rows["label"].to_list()
        for key, rows in found.group_by("references", "qid", maintain_order=True)
    }


@pytest.fixture
def short(drop: Drop, config: dict[str, Any]) -> dict[str, Any]:
    """The small configuration with an annotation source of the new kind in its grid."""
    drop(ANNOTATION_KINDS, "short", SHORT)
    config["annotations"] = {"brief": {"kind": "short"}}
    config["grid"]["annotations"] = ["brief"]
    return config


def test_definition_and_checks(short: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(short, tmp_path).config["annotations"]["brief"] == {"kind": "short", "words": 3}
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"words": 0}, ["'annotations.brief.words'", "found 0", "at least 1"]),
        ({"words": 100}, ["'annotations.brief.words'", "found 100", "fewer words"]),
        ({"kind": "shrt"}, ["'annotations.brief.kind'", "short, zeroshot", "did you mean 'short'?"]),
    ]
    for keys, parts in wrong:
        short["annotations"]["brief"] = {"kind": "short", **keys}
        check_error(short, tmp_path, parts)


def test_reference(short: dict[str, Any], reference: str) -> None:
    assert "| `kind` | `short` | required | 1 where the passage is short. |" in reference
    assert "| `words` | integer, ≥ 1 | `3` | Most words of a short passage. |" in reference


def test_labels(short: dict[str, Any]) -> None:
    expected = [("1", [1, 0]), ("2", [1])]
    assert labels({"kind": "short"}) == {(name, qid): rows for name in GIVEN.references for qid, rows in expected}


def test_jobs_are_asked_of_the_kind() -> None:
    def job(**definition: Any) -> Any:
        return ANNOTATION_KINDS.of(definition).job("name", "minilm", "lm")

    assert job(kind="qrels") is None
    assert job(kind="erag") == (BY_ANSWERS, {"scorer": "minilm"})
    assert job(kind="erag", scorer="bleu") == (BY_ANSWERS, {"scorer": "bleu"})
    assert job(kind="llm", generator="judge") == (BY_JUDGE, {"source": "name", "judge": "judge"})
    assert job(kind="zeroshot") == (BY_ZEROSHOT, {"retriever": "zeroshot"})
    assert job(kind="provenance", path="p") == (BY_PAGES, {"source": "name"})
    assert job(kind="file", path="p") == (BY_FILE, {"source": "name"})
    assert job(kind="graded_llm") == (BY_JUDGE, {"source": "name", "judge": "lm"})


def test_wholeness_goes_by_the_definition() -> None:
    catalogue: dict[str, Any] = {
        "qrels": {"kind": "qrels"},
        "erag": {"kind": "erag"},
        "binary": {"kind": "erag", "threshold": 0.5},
        "contained": {"kind": "containment"},
    }

    def whole(**definition: Any) -> bool:
        return ANNOTATION_KINDS.of(definition).whole(catalogue)

    assert [whole(**definition) for definition in catalogue.values()] == [True, False, True, True]
    assert not whole(kind="zeroshot")
    pair = ["binary", "contained"]
    assert whole(kind="combination", sources=pair, combine="max")
    assert not whole(kind="combination", sources=pair, combine="mean")
    assert not whole(kind="combination", sources=["binary", "erag"], combine="max")
    assert not whole(kind="combination", sources=["binary", "qrels"], combine="max"), "grades are divided there"


SCORES = pl.DataFrame(
    {"qid": ["1", "1", "1"], "seed": [1, 2, 1], "references": ["lenient", "lenient", "strict"], "f1": [0.6, -0.2, 0.9]}
)


def test_the_null_is_p0_for_every_passage() -> None:
    """It is the mean over seeds, with 0 for a score below 0, and the whole set's where references are unseen."""
    assert labels({"kind": "zeroshot"}, SCORES) == {
        ("lenient", "1"): [0.3, 0.3],
        ("lenient-unseen", "1"): [0.3, 0.3],
    }


def test_the_null_has_no_ndcg(tmp_path: Path) -> None:
    PASSAGES.with_columns(rank=pl.col("qid").cum_count().over("qid").cast(pl.Int64)).write_parquet(tmp_path / "c")
    pl.DataFrame(list(GIVEN.queries.items()), schema=["qid", "query"], orient="row").write_parquet(tmp_path / "q")
    GIVEN.qrels.write_parquet(tmp_path / "qrels")
    SCORES.write_parquet(tmp_path / "scores")
    _, values = measure_labels(
        LabelledFiles({"bm25": tmp_path / "c"}, tmp_path / "q", tmp_path / "qrels", {"null": tmp_path / "scores"}),
        {"null": {"kind": "zeroshot"}}, ["null"], ["lenient"], LabelMeasures(["P", "Success", "nDCG"], [2], 10, 2),
    )  # fmt: skip
    assert dict(values.select("measure", "value").iter_rows()) == {"P": 0.3, "Success": 0.3, "nDCG": None}


OWN = """
def shares(query, passage, most=1.0):
    words = set(query.split())
    return most * len(words & set(passage.split())) / len(words)


def lengths(queries, passages):
    return [len(passage) / 100 for passage in passages]


def few(queries, passages):
    return [0.5]


def wrong(query, passage):
    return 1.5
"""


@pytest.fixture
def own(tmp_path: Path, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The small configuration with a source that is a function of a file beside the study."""
    (tmp_path / "own_labels.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    config["annotations"] = {"own": {"kind": "python", "function": "own_labels:shares"}}
    config["grid"]["annotations"] = ["own"]
    yield config
    sys.modules.pop("own_labels", None)


def test_a_function_of_ones_own(own: dict[str, Any], tmp_path: Path) -> None:
    def of(**keys: Any) -> list[float]:
        own["annotations"]["own"] = {"kind": "python", "function": "own_labels:shares", **keys}
        return labels(study_of(own, tmp_path).config["annotations"]["own"])["lenient", "1"]

    assert of() == pytest.approx([1 / 3, 0])
    assert of(options={"most": 0.9}) == pytest.approx([0.3, 0])
    assert of(threshold=0.3) == [1, 0]
    assert of(function="own_labels:lengths", batch=True) == pytest.approx([0.11, 0.15])
    for keys, message in (
        ({"function": "own_labels:few", "batch": True}, "found 1 labels for 3 pairs"),
        ({"function": "own_labels:wrong"}, "own_labels:wrong: found the return value 1.5; expected a number from 0"),
    ):
        with pytest.raises(InputError, match=message):
            of(**keys)


def test_its_definition_follows_the_file(own: dict[str, Any], tmp_path: Path) -> None:
    before = study_of(own, tmp_path).config["annotations"]["own"]["code"]
    (tmp_path / "own_labels.py").write_text(OWN + "\n# other\n")
    assert study_of(own, tmp_path).config["annotations"]["own"]["code"] != before
    own["annotations"]["own"]["function"] = "own_labels:share"
    check_error(own, tmp_path, ["'annotations.own.function'", "no function 'share'"])
