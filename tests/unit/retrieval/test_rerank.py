"""Rerankers by their real libraries, with tiny models: what is scored, and that a batch has no say in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.retrievers.rerank import Rerank
from ragrelay.retrieval.trec import ranked, write_run

from tests.support.tiny_encoders import build_tiny_cross_encoder, build_tiny_t5
from tests.unit.conftest import PASSAGES, QUERIES

pytestmark = pytest.mark.engine

LONG = {**PASSAGES, "d7": "rain falls on the hills and runs to the sea " * 12, "d8": "tea " * 40}
FIRST = [(qid, docno, float(9 - i)) for qid in QUERIES for i, docno in enumerate(LONG)]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "monot5": build_tiny_t5(folder / "monot5"),
        "cross_encoder": build_tiny_cross_encoder(folder / "cross-encoder"),
        "two outputs": build_tiny_cross_encoder(folder / "two-outputs", outputs=2),
    }


@pytest.fixture
def rerank(write_dataset: Callable[..., Path], tmp_path: Path, models: dict[str, Path]) -> Callable[..., pl.DataFrame]:
    """A function from a reranker's settings to its run over FIRST."""
    collection = LocalCollection(write_dataset(passages=LONG))
    queries = collection.queries()

    def run(reranker: str, model: str = "", first: list[Any] = FIRST, **more: Any) -> pl.DataFrame:
        frame = pl.DataFrame(first, schema=["qid", "docno", "score"], orient="row")
        write_run(ranked(frame, queries), tmp_path / "first.run.gz", tag="first")
        definition = {
            "kind": "rerank", "first_stage": "first", "reranker": reranker, "model": str(models[model or reranker]),
            "depth": 100, "batch_size": 16, **more,
        }  # fmt: skip
        return build_run(collection, queries, pl.DataFrame(), definition, runs=[tmp_path / "first.run.gz"])

    return run


def scores(run: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(qid, docno): score for qid, docno, score in run.select("qid", "docno", "score").iter_rows()}


@pytest.mark.parametrize("reranker", ["monot5", "cross_encoder"])
def test_words_that_the_tokenizer_does_not_know(
    write_dataset: Callable[..., Path], models: dict[str, Path], reranker: str
) -> None:
    """T5's vocabulary has no Cyrillic letter: every passage would be the same to it."""
    kind = Rerank.model_validate({"first_stage": "first", "reranker": reranker, "model": str(models[reranker])})
    first = pl.DataFrame({"qid": ["q"], "docno": ["d"], "rank": [1], "score": [1.0]})
    for query, text, what in (("tea", "ሰላም ቡና", "passages"), ("ሰላም ቡና", "tea", "queries")):
        asked = pl.DataFrame({"qid": ["q"], "query": [query]})
        with pytest.raises(InputError, match=f"reranker's model .*: found {what} with 100% of the words"):
            kind.rescored(asked, first, {"d": text}, 1)


@pytest.mark.parametrize("reranker", ["monot5", "cross_encoder"])
def test_scores_do_not_depend_on_the_batch(rerank: Callable[..., pl.DataFrame], reranker: str) -> None:
    """A pair has the same score alone, among longer ones and among cut ones, but for rounding."""
    alone, together = scores(rerank(reranker, batch_size=1)), scores(rerank(reranker, batch_size=16))
    assert together == pytest.approx(alone, abs=1e-4)
    few = scores(rerank(reranker, first=[row for row in FIRST if row[1] in ("d1", "d6")]))
    assert few == pytest.approx({pair: alone[pair] for pair in few}, abs=1e-4)
    spread = [alone["q2", docno] for docno in PASSAGES]
    assert max(spread) - min(spread) > 1e-2, "texts differ by more than the tolerance"


def test_monot5_is_the_probability_of_true(rerank: Callable[..., pl.DataFrame], models: dict[str, Path]) -> None:
    """Nogueira et al. take the log-probability of ``true`` against ``false`` as the first decoded token."""
    import torch
    from transformers import T5ForConditionalGeneration, T5Tokenizer

    tokenizer = T5Tokenizer.from_pretrained(models["monot5"])
    model = T5ForConditionalGeneration.from_pretrained(models["monot5"]).eval()
    found = scores(rerank("monot5"))
    for docno in ("d1", "d6"):
        text = f"Query: {QUERIES['q2']} Document: {PASSAGES[docno]} Relevant:"
        given = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            logits = model(**given, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        both = torch.log_softmax(logits[[tokenizer.encode("true")[0], tokenizer.encode("false")[0]]], dim=0)
        assert found["q2", docno] == pytest.approx(float(both[0]), abs=1e-4)


def test_monot5_with_a_tokenizer_of_its_own(
    rerank: Callable[..., pl.DataFrame], models: dict[str, Path], tmp_path: Path
) -> None:
    expected = rerank("monot5")
    bare, tokenizer = tmp_path / "bare", tmp_path / "tokenizer"
    for folder, names in ((bare, "config.json model.safetensors generation_config.json"), (tokenizer, "token")):
        folder.mkdir()
        for path in models["monot5"].iterdir():
            if path.name in names or (names == "token" and path.name.startswith("token")):
                (folder / path.name).symlink_to(path)
    models["bare"] = bare
    assert rerank("monot5", "bare", tokenizer=str(tokenizer)).equals(expected)


def test_cross_encoder_scores_are_logits(rerank: Callable[..., pl.DataFrame], models: dict[str, Path]) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(models["cross_encoder"])
    model = AutoModelForSequenceClassification.from_pretrained(models["cross_encoder"]).eval()
    found = scores(rerank("cross_encoder"))
    for docno, text in LONG.items():
        given = tokenizer(QUERIES["q10"], text, return_tensors="pt", truncation=True)
        with torch.no_grad():
            assert found["q10", docno] == pytest.approx(float(model(**given).logits[0, 0]), abs=1e-4)


def test_cross_encoder_with_two_outputs(rerank: Callable[..., pl.DataFrame]) -> None:
    with pytest.raises(InputError, match="found 2 outputs; expected a cross-encoder with one output"):
        rerank("cross_encoder", "two outputs")


def test_depth_and_texts(rerank: Callable[..., pl.DataFrame]) -> None:
    """Only the top is reranked; what has no text is passed over."""
    found = rerank("cross_encoder", first=[*FIRST, ("q2", "gone", 99.0)], depth=3)
    top = {qid: set(found.filter(qid=qid)["docno"]) for qid in QUERIES}
    assert top == {"q2": {"d1", "d2"}, "q10": {"d1", "d2", "d3"}, "q1": {"d1", "d2", "d3"}}
    assert found.equals(ranked(found.select("qid", "docno", "score"), pl.DataFrame({"qid": list(QUERIES)})))
