"""Dense encoders by their real libraries, with tiny models, over a stored index of vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.base.io.file_hashes import check_hashes
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.indexes import index_name
from ragrelay.retrieval.retriever import RETRIEVER_KINDS

from tests.support.indexes import built_index
from tests.support.tiny_encoders import build_tiny_bert, build_tiny_sentence_encoder
from tests.unit.conftest import PASSAGES, QUERIES

pytestmark = pytest.mark.engine

DENSE: dict[str, Any] = {
    "kind": "dense", "encoder": "sentence_transformers", "query_prefix": "", "passage_prefix": "", "depth": 1000,
    "batch_size": 32,
}  # fmt: skip
Vectors = Callable[[list[str]], np.ndarray]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(scope="module")
def e5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_sentence_encoder(tmp_path_factory.mktemp("models") / "e5")


@pytest.fixture
def search(write_dataset: Callable[..., Path], tmp_path: Path) -> Callable[..., dict[tuple[str, str], float]]:
    """A function from a definition to the scores of its run."""
    collection = LocalCollection(write_dataset())

    def scores(**settings: Any) -> dict[tuple[str, str], float]:
        definition = {**DENSE, **settings}
        index = built_index(collection, definition, tmp_path / "cache")
        run = build_run(collection, collection.queries(), pl.DataFrame(), definition, index=index)
        check_hashes(index, whole=True)
        return {(qid, docno): score for qid, docno, score in run.select("qid", "docno", "score").iter_rows()}

    return scores


def products(queries: np.ndarray, passages: np.ndarray) -> dict[tuple[str, str], float]:
    table = queries @ passages.T
    return {(qid, docno): float(table[i, j]) for i, qid in enumerate(QUERIES) for j, docno in enumerate(PASSAGES)}


def states(folder: Path, texts: list[str], **how: Any) -> list[np.ndarray]:
    """The last hidden states of each text alone."""
    import torch
    from transformers import AutoTokenizer, BertModel

    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder).eval()
    with torch.no_grad():
        return [model(**tokenizer(text, return_tensors="pt", **how)).last_hidden_state[0].numpy() for text in texts]


def test_a_model_without_pooling_gives_the_mean_of_its_tokens(search: Callable[..., Any], bert: Path) -> None:
    """Contriever's authors take the mean, and its files on the hub say nothing of pooling."""
    queries, passages = (
        np.stack([state.mean(axis=0) for state in states(bert, list(texts.values()))]) for texts in (QUERIES, PASSAGES)
    )
    assert search(model=str(bert)) == pytest.approx(products(queries, passages), abs=1e-4)


def test_prefixes(search: Callable[..., Any], e5: Path) -> None:
    """E5 needs them: vectors are those of the texts with the prefixes written before them."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(e5), device="cpu")
    queries = model.encode([f"query: {text}" for text in QUERIES.values()])
    passages = model.encode([f"passage: {text}" for text in PASSAGES.values()])
    found = search(model=str(e5), query_prefix="query: ", passage_prefix="passage: ")
    assert found == pytest.approx(products(queries, passages), abs=1e-4)
    assert search(model=str(e5)) != pytest.approx(found, abs=1e-2)


def test_tas_b_is_the_first_token(search: Callable[..., Any], bert: Path) -> None:
    """Hofstaetter et al. take the vector of [CLS], without normalisation."""
    queries, passages = (
        np.stack([state[0] for state in states(bert, list(texts.values()))]) for texts in (QUERIES, PASSAGES)
    )
    assert search(model=str(bert), encoder="tas_b") == pytest.approx(products(queries, passages), abs=1e-3)


def test_tct_colbert_is_a_mean(
    search: Callable[..., Any], bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lin et al. take the mean of all tokens but the first four, and fill queries up with masks to 36 tokens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bert-base-uncased").symlink_to(bert)  # pyterrier-dr takes this tokenizer, from a hub or from here
    asked = [f"[CLS] [Q] {text} " + " ".join(["[MASK]"] * 32) for text in QUERIES.values()]
    told = [f"[CLS] [D] {text}" for text in PASSAGES.values()]
    how = {"add_special_tokens": False, "truncation": True}
    queries = np.stack([state[4:].mean(axis=0) for state in states(bert, asked, max_length=36, **how)])
    passages = np.stack([state[4:].mean(axis=0) for state in states(bert, told, **how)])
    assert search(model=str(bert), encoder="tct_colbert") == pytest.approx(products(queries, passages), abs=1e-3)


def test_what_decides_the_index(search: Callable[..., Any], e5: Path, tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [{}, {"query_prefix": "query: "}, {"batch_size": 2}, {"depth": 3}]
    for more in settings:
        search(model=str(e5), **more)
    assert len(list((tmp_path / "cache/indexes").iterdir())) == 1, "none of these decides a passage's vector"
    search(model=str(e5), passage_prefix="passage: ")
    assert len(list((tmp_path / "cache/indexes").iterdir())) == 2
    names = {
        index_name(definition)
        for more in ({}, {"encoder": "tas_b"}, {"passage_prefix": "p"}, {"query_prefix": "q"})
        if (definition := RETRIEVER_KINDS.of({**DENSE, "model": "m", **more}).index_definition())
    }
    assert len(names) == 3
