"""The demo model: small, loadable like any other, and trained on text that holds nothing of the demo collection."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sandbox import ROOT

pytestmark = pytest.mark.process

MODEL = ROOT / "resources/demo/model"
COLLECTION = ROOT / "resources/demo/collection"
TRAINING = ROOT / "resources/demo/training"


def eight_grams(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return zip(*(words[start:] for start in range(8)), strict=False)


def test_is_small_and_names_its_sources() -> None:
    assert sum(path.stat().st_size for path in MODEL.iterdir()) <= 15e6
    assert not [path for path in MODEL.iterdir() if path.suffix in (".bin", ".pkl", ".pt")]
    assert "licence" in (MODEL / "MODEL_CARD.md").read_text(encoding="utf-8").lower()


def test_loads_and_prompts_begin_with_exactly_one_bos() -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    ids = tokenizer('Question: "why do cats purr"').input_ids
    assert ids[0] == tokenizer.bos_token_id
    assert ids.count(tokenizer.bos_token_id) == 1
    assert AutoModelForCausalLM.from_pretrained(MODEL).num_parameters() < 5e6


@pytest.mark.full  # it downloads and unpacks Debian packages; collection and training text rarely change
def test_training_text_shares_no_eight_gram_with_the_demo_collection(tmp_path: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        pytest.skip("the training text is made of Debian packages; this machine has no apt-get")
    made = subprocess.run([sys.executable, "corpus.py", str(tmp_path)], cwd=TRAINING, capture_output=True, text=True)
    if made.returncode and "download" in made.stderr:
        pytest.skip(f"Debian's packages can't be fetched here: {made.stderr.strip().splitlines()[-1]}")
    assert made.returncode == 0, made.stderr[-2000:]
    texts = [line.split("\t")[1] for line in (COLLECTION / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    passages = (COLLECTION / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts += [json.loads(line)["text"] for line in passages]
    ours = {gram for text in texts for gram in eight_grams(text)}
    assert len(ours) > 15_000
    training = (tmp_path / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(training) > 10_000
    shared = {
        gram for line in training for gram in eight_grams(" ".join(map(str, json.loads(line).values()))) if gram in ours
    }
    assert shared == set()
