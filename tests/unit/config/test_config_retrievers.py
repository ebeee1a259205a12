"""Definitions of retrievers and orderings: defaults by engine, what they stand on, and what can't work."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.unit.config.test_config import check_error
from tests.unit.conftest import at, model_folder, study_of

TERRIER = {"kind": "bm25", "engine": "terrier"}
GRADED = {"kind": "graded", "relevant": 2, "min_label": 2}
POSITION = {"kind": "position", "place": 1, "min_label": 2}
FUSION = {"kind": "fusion", "retrievers": ["bm25", "rel"]}
MODULE = "import os\nfrom json import loads as read\nmade = print\ndef pipeline(corpus, index): ...\nclass Other: ...\n"

WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({**TERRIER, "stemmer": "krovetz"}, ["'retrievers.it.stemmer'", "'krovetz'", "engine terrier: porter or none"]),
    ({"kind": "bm25", "stemmer": "porter"}, ["'retrievers.it.stemmer'", "pisa: one of porter2, krovetz"]),
    ({"kind": "bm25", "expansion": "rm3"}, ["'retrievers.it.expansion'", "'rm3' with engine pisa", "engine terrier"]),
    ({**TERRIER, "expansion": "rocchio"}, ["'retrievers.it.expansion'", "'rocchio'", "rm3, bo1, kl"]),
    ({**TERRIER, "feedback_terms": 5}, ["'retrievers.it.feedback_terms'", "5", "with expansion rm3 or bo1 or kl"]),
    (
        {**TERRIER, "expansion": "bo1", "original_weight": 0.5},
        ["'retrievers.it.original_weight'", "only with expansion rm3"],
    ),
    ({"kind": "dense", "model": "a/b", "encoder": "bert"}, ["'retrievers.it.encoder'", "'bert'", "tas_b"]),
    (
        {"kind": "dense", "model": "a/b", "encoder": "tas_b", "query_prefix": "query: "},
        ["'retrievers.it.query_prefix'", "'query: '", "tas_b has its own"],
    ),
    (
        {"kind": "rerank", "first_stage": "bm25", "model": "a/b", "reranker": "cross_encoder", "tokenizer": "c"},
        ["'retrievers.it.tokenizer'", "'c'", "only with reranker monot5"],
    ),
    (
        {"kind": "rerank", "first_stage": "bm25", "model": "a/b", "tokenizer": "./none"},
        ["'retrievers.it.tokenizer'", "no tokenizer in", "spiece.model"],
    ),
    (
        {"kind": "rerank", "first_stage": "bm25", "model": "bare"},
        ["'retrievers.it.model'", "no tokenizer in", "spiece.model"],
    ),
    ({**FUSION, "retrievers": ["bm25"]}, ["'retrievers.it.retrievers'", "at least 2"]),
    ({**FUSION, "retrievers": ["bm25", "bm52"]}, ["'retrievers.it.retrievers'", "'bm52'", "bm25"]),
    ({**FUSION, "retrievers": ["bm25", "it"]}, ["'retrievers.it.retrievers'", "a cycle: it → it;"]),
    ({**GRADED, "max_label": 2}, ["'retrievers.it'", "max_label not below min_label"]),
    ({**POSITION, "max_label": 3}, ["'retrievers.it'", "max_label not below min_label"]),
    ({"kind": "graded", "min_label": 2}, ["'retrievers.it'", "no key 'relevant'"]),
    ({**GRADED, "relevant": -1}, ["'retrievers.it.relevant'", "-1", "at least 0"]),
    ({**POSITION, "place": 0}, ["'retrievers.it.place'", "0", "at least 1"]),
    ({**POSITION, "place": 2}, ["'retrievers.it.place'", "2", "at most 1, the grid's smallest k"]),
    ({"kind": "pyterrier", "pipeline": "os.system('x')"}, ["'retrievers.it.pipeline'", "os.system('x')"]),
    (
        {"kind": "pyterrier", "pipeline": "mine"},
        ["'retrievers.it.pipeline'", "'mine'", "a function in the form module:function"],
    ),
    ({"kind": "pyterrier", "pipeline": "nowhere:f"}, ["'retrievers.it.pipeline'", "no module 'nowhere'", "nowhere.py"]),
    ({"kind": "pyterrier", "pipeline": "no.where:f"}, ["'retrievers.it.pipeline'", "no module 'no.where'"]),
    ({"kind": "pyterrier", "pipeline": "mypipes:absent"}, ["'retrievers.it.pipeline'", "no function 'absent' in"]),
    (
        {"kind": "pyterrier", "pipeline": "mypipes:pipeline", "index": "mypipes:build"},
        ["'retrievers.it.index'", "no function 'build' in"],
    ),
]


@pytest.mark.parametrize(("definition", "parts"), WRONG)
def test_wrong(config: dict[str, Any], tmp_path: Path, definition: dict[str, Any], parts: list[str]) -> None:
    (tmp_path / "mypipes.py").write_text(MODULE)
    model_folder(tmp_path / "bare", ("config.json", "model.safetensors"))
    config["retrievers"]["it"] = definition
    config["grid"]["retrievers"] = ["it"]
    check_error(config, tmp_path, parts)


def test_what_the_grid_does_not_need_is_not_checked(config: dict[str, Any], tmp_path: Path) -> None:
    config["retrievers"] |= {"it": {**POSITION, "place": 9}, "p": {"kind": "pyterrier", "pipeline": "nowhere:f"}}
    assert study_of(config, tmp_path).needed_retrievers() == ["bm25", "rel"]


def test_defaults_of_the_engine(config: dict[str, Any], tmp_path: Path) -> None:
    config["retrievers"] |= {
        "terrier": TERRIER, "rm3": {**TERRIER, "k1": 2, "expansion": "rm3"}, "bo1": {**TERRIER, "expansion": "bo1"},
    }  # fmt: skip
    study = study_of(config, tmp_path)
    plain = {**TERRIER, "k1": 1.2, "b": 0.75, "stemmer": "porter", "stopwords": "terrier", "depth": 1000}
    feedback = {"feedback_passages": 3, "feedback_terms": 10}
    assert study.retriever("terrier") == plain
    assert study.retriever("rm3") == {**plain, "k1": 2.0, "expansion": "rm3", **feedback, "original_weight": 0.6}
    assert study.retriever("bo1") == {**plain, "expansion": "bo1", **feedback}
    assert list(study.retriever("rm3")) == sorted(study.retriever("rm3"))


@pytest.mark.parametrize("name", ["pipeline", "Other", "made", "read", "os"])
def test_functions_are_found_without_running_their_module(config: dict[str, Any], tmp_path: Path, name: str) -> None:
    (tmp_path / "mypipes.py").write_text(MODULE + "raise SystemExit\n")
    config["retrievers"]["it"] = {"kind": "pyterrier", "pipeline": f"mypipes:{name}", "options": {"a": [1]}}
    config["grid"]["retrievers"] = ["it"]
    study = study_of(config, tmp_path)
    assert study.retriever("it")["options"] == {"a": [1]}
    before = study.retriever("it")["code"]
    (tmp_path / "mypipes.py").write_text(MODULE + "x = 1\n")
    assert RETRIEVER_KINDS.completed(study.retriever("it"), tmp_path)["code"] != before


def test_parts_of_parts(config: dict[str, Any], tmp_path: Path) -> None:
    """A retriever that others are made of is needed once, however many stand on it."""
    config["retrievers"] |= {
        "both": {"kind": "fusion", "retrievers": ["t5", "mine"]},
        "again": {"kind": "fusion", "retrievers": ["both", "bm25"]},
        "mine": {"kind": "pyterrier", "pipeline": "mypipes:pipeline", "first_stage": "bm25"},
    }
    (tmp_path / "mypipes.py").write_text(MODULE)
    config["grid"]["retrievers"] = ["again", "t5"]
    study = study_of(config, tmp_path)
    assert study.needed_retrievers() == ["again", "bm25", "both", "mine", "t5"]
    config["retrievers"]["mine"]["first_stage"] = "again"
    check_error(config, tmp_path, ["'retrievers.mine.first_stage'", "a cycle: again → both → mine → again;"])


def test_permutations(config: dict[str, Any], tmp_path: Path) -> None:
    at(config, "grid.orderings", ["descending", "permutations"])
    at(config, "grid.k", [1, 3])
    study = study_of(config, tmp_path)
    names = ["123", "132", "213", "231", "312", "321", "1"]
    assert study.grid.orderings == ["descending", *(f"permutation_{name}" for name in names)]
    assert study.config["grid"]["orderings"] == ["descending", "permutations"], "told as it was asked"
    at(config, "grid.k", [1, 5])
    check_error(config, tmp_path, ["'grid.orderings'", "permutations with k = 5", "no k above 4"])
    at(config, "grid.orderings", ["permutation_21"])
    check_error(config, tmp_path, ["'grid.orderings.0'", "'permutation_21'", "permutations"])
