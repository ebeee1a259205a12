"""A kind of processor is one file: dropped in, it is in the schema, the reference, the checks and a run."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.execution.fetching.downloads import hub_files
from ragrelay.retrieval.contexts import shown_texts
from ragrelay.retrieval.processing import process_contexts
from ragrelay.retrieval.processor import PROCESSOR_KINDS
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of
from tests.unit.kinds.conftest import Drop

FIRST_WORDS = '''"""The first words."""

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import Download
from ragrelay.base.settings import Text
from ragrelay.retrieval.processor import Processor


class FirstWords(Processor):
    """Keeps the first words."""

    alone = True
    words: int = Field(ge=1, description="Words kept of a passage.")
    model: Text | None = Field(None, description="A model that counts words.")

    def check(self, place, study):
        if self.words > 99:
            raise InputError(f"{place}.words'", str(self.words), "fewer words")

    def downloads(self):
        if self.model:
            yield Download("model", self.model)

    def decisive(self, cache_dir):
        return {"words": self.words}

    def start(self, threads):
        return lambda query, passages: [(docno, " ".join(text.split()[:self.words])) for docno, text in passages]
'''


@pytest.fixture
def first_words(drop: Drop, config: dict[str, Any]) -> dict[str, Any]:
    """The small configuration with a retriever whose passages the new processor changes."""
    drop(PROCESSOR_KINDS, "first_words", FIRST_WORDS)
    processor = {"kind": "first_words", "words": 2}
    config["retrievers"]["short"] = {"kind": "processed", "of": "bm25", "processor": processor}
    config["grid"]["retrievers"].append("short")
    return config


def test_defaults_and_checks(first_words: dict[str, Any], tmp_path: Path) -> None:
    definition = study_of(first_words, tmp_path).retriever("short")
    assert definition == {
        "code": {}, "kind": "processed", "of": "bm25", "processor": {"kind": "first_words", "words": 2}
    }  # fmt: skip
    place = "'retrievers.short.processor"
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"kind": "first_words", "words": 0}, [f"{place}.words'", "found 0", "at least 1"]),
        ({"kind": "first_words", "words": 100}, [f"{place}.words'", "found 100", "fewer words"]),
        ({"kind": "first_words"}, [f"{place}'", "no key 'words'"]),
        ({"kind": "first_words", "wrods": 2}, [f"{place}'", "unknown key 'wrods'", "did you mean 'words'?"]),
        ({"kind": "first_word", "words": 2}, [f"{place}.kind'", "did you mean 'first_words'?"]),
        ({"kind": "python", "function": "gone:f"}, [f"{place}.function'", "no module 'gone'"]),
    ]
    for processor, parts in wrong:
        first_words["retrievers"]["short"]["processor"] = processor
        check_error(first_words, tmp_path, parts)


def test_what_can_not_be_processed(first_words: dict[str, Any], tmp_path: Path) -> None:
    for base, parts in {
        "gone": ["'retrievers.short.of'", "found 'gone'"],
        "rel": [
            "'retrievers.short.of'",
            "'rel', whose passages are chosen by judgements",
            "ranks without the judgements",
        ],
        "short": ["'retrievers.short.of'", "a cycle"],
    }.items():
        first_words["retrievers"]["short"]["of"] = base
        check_error(first_words, tmp_path, parts)
    first_words["retrievers"]["short"]["of"] = "bm25"
    (tmp_path / "answers.jsonl").write_text('{"qid": "q1", "answer": "a"}\n')
    first_words["generators"]["elsewhere"] = {"engine": "file", "path": "answers.jsonl"}
    first_words["grid"]["generators"] = ["elsewhere"]
    check_error(first_words, tmp_path, ["'retrievers.short'", "answers are imported", "whose passages were shown"])


def test_reference(first_words: dict[str, Any], reference: str) -> None:
    assert "`first_words`" in reference and "Keeps the first words." in reference
    assert "Words kept of a passage." in reference and "A model that counts words." in reference


def test_downloads(first_words: dict[str, Any], tmp_path: Path) -> None:
    first_words["retrievers"]["short"]["processor"]["model"] = "lab/words"
    (asked,) = [file for file in hub_files(study_of(first_words, tmp_path)) if "retrievers" in file["place"]]
    assert asked["name"] == "lab/words" and asked["place"] == "config key 'retrievers.short.processor.model'"


def test_run(first_words: dict[str, Any], tmp_path: Path) -> None:
    kind: Any = RETRIEVER_KINDS.of(study_of(first_words, tmp_path).retriever("short"))
    contexts = pl.DataFrame({"qid": ["q"], "rank": [1], "docno": ["d"], "text": ["one two three"]})
    queries = pl.DataFrame({"qid": ["q"], "query": ["which words"]})
    table, receipt = process_contexts(queries, contexts, [1], kind.processing(), tmp_path, "")
    assert shown_texts(table, 1)["text"].to_list() == ["one two"] and receipt["made"] == 1
