"""What the targets cache and cache_compact say and do."""

import json
from pathlib import Path

import polars as pl
import pytest
from ragrelay.execution.plan.cache import compact_cache, contents
from ragrelay.generation.store import SCHEMA, AnswerStore
from ragrelay.scoring.store import SCHEMA as SCORES
from ragrelay.scoring.store import ScoreStore

ANSWERED, SCORED = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Two parts of answers, two of scores, an index of 3,000,000 bytes."""
    folder = tmp_path / "cache"
    for seed in (1, 2):
        AnswerStore(folder, ANSWERED).append([dict.fromkeys(SCHEMA) | {"prompt_id": "p", "seed": seed}], {})
        rows = pl.DataFrame([{"answer_hash": str(seed), "references_hash": "r"}], schema=SCORES)
        ScoreStore(folder, SCORED).add(rows, {})
    (folder / "indexes/aaaaaaaaaaaaaaaaaaaaaaaa").mkdir(parents=True)
    (folder / "indexes/aaaaaaaaaaaaaaaaaaaaaaaa/large").write_bytes(bytes(3_000_000))
    return folder


def test_each_entry_with_the_studies_that_use_it(cache: Path, tmp_path: Path) -> None:
    receipt = tmp_path / "results/mine/dl19/generated/demo-lm/shard0.json"
    scores = tmp_path / "results/other/dl19/scores/minilm/demo-lm/bm25.parquet"
    for path in (receipt, scores):
        path.parent.mkdir(parents=True)
    receipt.write_text(json.dumps({"fingerprint": ANSWERED}))
    pl.DataFrame().write_parquet(scores, metadata={"fingerprint": SCORED})
    table = contents(cache, tmp_path / "results").drop("written")
    assert table.rows() == [
        ("answers", ANSWERED, 0.0, 2, "mine (demo-lm)"),
        ("scores", SCORED, 0.0, 2, "other (minilm)"),
        ("indexes", "aaaaaaaaaaaaaaaaaaaaaaaa", 3.0, 1, ""),
    ]


def test_every_store_is_joined_and_says_so(cache: Path) -> None:
    assert [line.split(": ")[1].split(",")[0] for line in compact_cache(cache)] == ["2 parts joined into 1"] * 2
    keys = pl.DataFrame({"prompt_id": ["p", "p"], "seed": [1, 2]})
    assert len(AnswerStore(cache, ANSWERED).look_up(keys)) == 2
    assert len(AnswerStore(cache, ANSWERED).parts()) == len(ScoreStore(cache, SCORED).parts()) == 1


def test_an_empty_cache_has_no_row(tmp_path: Path) -> None:
    assert contents(tmp_path, tmp_path).is_empty()
