"""Claims from a hub (a fake one), in a process of its own, as jobs are."""

from pathlib import Path

import polars as pl
import pytest

from tests.support.fake_hub import FakeHub
from tests.unit.execution.test_fetching import Ask, ask  # noqa: F401  (a fixture)

pytestmark = pytest.mark.process

CLAIMS = {
    "source": "huggingface", "id": "lab/claims", "subset": "default", "split": "test",
    "revision": "refs/convert/parquet",
}  # fmt: skip
READ = f"from ragrelay.annexes.acu.source import *; print(list(CLAIM_KINDS.of({CLAIMS}).records()))"


def test_a_data_set_of_claims(ask: Ask, tmp_path: Path) -> None:  # noqa: F811
    """Only the files of the subset and split are read; the message names what is missing."""
    folder = tmp_path / "claims"
    for split, claim in (("test", "Water is wet"), ("train", "Fire is cold")):
        (folder / "default" / split).mkdir(parents=True)
        pl.DataFrame({"claim": [claim]}).write_parquet(folder / "default" / split / "0000.parquet")
    place = "data set lab/claims at refs/convert/parquet"
    assert f"{place}: found 'lab/claims' unavailable" in ask(READ, HF_ENDPOINT="http://127.0.0.1:9")
    with FakeHub({"datasets/lab/claims": folder}) as hub:
        assert ask(READ, HF_ENDPOINT=hub.url) == f"[('{place}, row 1', {{'claim': 'Water is wet'}})]"
        other = READ.replace("'split': 'test'", "'split': 'dev'")
        assert f"{place}: found no file default/dev/*.parquet" in ask(other, HF_ENDPOINT=hub.url)
