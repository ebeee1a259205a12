"""A kind of retriever is one file: dropped in, it is in the schema, the reference, the checks and a run."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.execution.fetching.downloads import hub_files
from ragrelay.execution.jobs.code_digest import SCRIPTS, _code, code_digest
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.support.code_edits import edit_functions
from tests.support.sandbox import ROOT
from tests.unit.config.test_config import check_error
from tests.unit.conftest import PASSAGES, study_of
from tests.unit.kinds.conftest import Drop

LONGEST = '''"""The longest passages."""

import polars as pl
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import Download
from ragrelay.base.settings import Text
from ragrelay.retrieval.retriever import Retriever
from ragrelay.retrieval.trec import RUN


class Longest(Retriever):
    """The longest judged passages,
    whatever the query.

    How it is done is of no concern to users.
    """

    needs_qrels = True
    words: int = Field(1, ge=1, description="Fewest words of a passage.")
    depth: int = Field(10, ge=1, description="Passages per query.")
    model: Text | None = Field(None, description="A model that counts words.")

    def check(self, place, study):
        if self.words > 99:
            raise InputError(f"{place}.words'", str(self.words), "fewer words")

    def downloads(self):
        if self.model:
            yield Download("model", self.model)

    def run(self, task):
        texts = task.collection.texts(task.qrels["docno"].to_list())
        rows = [(qid, docno, float(len(text))) for qid in task.queries["qid"] for docno, text in texts.items()
                if len(text.split()) >= self.words]
        return pl.DataFrame(rows, schema=RUN, orient="row")
'''


@pytest.fixture
def longest(drop: Drop, config: dict[str, Any]) -> dict[str, Any]:
    """The small configuration with a retriever of the new kind in its grid."""
    drop(RETRIEVER_KINDS, "longest", LONGEST)
    config["retrievers"]["long"] = {"kind": "longest", "words": 5}
    config["grid"]["retrievers"].append("long")
    return config


def test_defaults_and_checks(longest: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(longest, tmp_path).retriever("long") == {"kind": "longest", "words": 5, "depth": 10}
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"words": 0}, ["'retrievers.long.words'", "found 0", "at least 1"]),
        ({"words": 100}, ["'retrievers.long.words'", "found 100", "fewer words"]),
        (
            {"wrods": 2},
            ["'retrievers.long'", "unknown key 'wrods'", "depth, kind, model, words; did you mean 'words'?"],
        ),
        ({"kind": "longst"}, ["'retrievers.long.kind'", "graded, longest, oracle", "did you mean 'longest'?"]),
        ({"model": ""}, ["'retrievers.long.model'", "at least 1 character"]),
    ]
    for keys, parts in wrong:
        longest["retrievers"]["long"] = {"kind": "longest", **keys}
        check_error(longest, tmp_path, parts)


def test_reference(longest: dict[str, Any], reference: str) -> None:
    assert "### `kind: longest`" in reference
    assert "| `kind` | `longest` | required | The longest judged passages, whatever the query. |" in reference
    assert "| `words` | integer, ≥ 1 | `1` | Fewest words of a passage. |" in reference
    assert "| `model` | string | none | A model that counts words. |" in reference


def test_downloads(longest: dict[str, Any], tmp_path: Path) -> None:
    longest["retrievers"]["long"]["model"] = "lab/words"
    (asked,) = [file for file in hub_files(study_of(longest, tmp_path)) if "retrievers" in file["place"]]
    assert asked["name"] == "lab/words" and asked["place"] == "config key 'retrievers.long.model'"


def test_run(longest: dict[str, Any], tmp_path: Path) -> None:
    collection = LocalCollection(tmp_path / "small")
    definition = study_of(longest, tmp_path).retriever("long")
    found = build_run(collection, collection.queries(), collection.qrels(), definition)
    kept = sorted((len(text), docno) for docno, text in PASSAGES.items() if len(text.split()) >= 5)
    assert found.filter(qid="q1")["docno"].to_list() == [docno for _, docno in kept[::-1]]
    assert build_run(collection, collection.queries(), collection.qrels(), {**definition, "depth": 2}).equals(
        found.filter(pl.col("rank") <= 2)
    )
    with pytest.raises(InputError, match="retriever of kind longest: found no results for any query"):
        build_run(collection, collection.queries(), collection.qrels(), {**definition, "words": 99})


def test_editing_one_kind_reruns_no_other(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))

    def digests() -> dict[str, str]:
        code_digest.cache_clear()
        _code.cache_clear()
        modules = {kind: RETRIEVER_KINDS.module({"kind": kind}) for kind in RETRIEVER_KINDS.names()}
        return {kind: code_digest("retrieval/build_run.py", module, folder=scripts) for kind, module in modules.items()}

    def edit(name: str) -> set[str]:
        """The kinds whose runs are made anew when each function of a module of retrieval is edited."""
        before, path = digests(), scripts / "ragrelay" / "retrieval" / name
        edit_functions(path)
        return {kind for kind, found in digests().items() if found != before[kind]}

    assert edit("retrievers/bm25.py") == edit("terrier.py") == {"bm25"}
    assert edit("retrievers/dense.py") == {"dense"}
    assert edit("judged.py") == {"oracle", "graded", "position"}
    assert edit("trec.py") == set(RETRIEVER_KINDS.names())


def test_runs_of_the_demo_take_one_core() -> None:
    """If they took two, they would wait while engines start, which would then find no prompts to answer."""
    retrievers = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))["retrievers"]
    assert {RETRIEVER_KINDS[retrievers[name]["kind"]].threads for name in ("bm25", "dense", "rel", "nrel")} == {1}
