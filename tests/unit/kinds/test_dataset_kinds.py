"""A source of datasets is one file: dropped in, it is in the schema, reference and checks, and is opened."""

from pathlib import Path
from typing import Any

import pytest
from ragrelay.collection import open_collection
from ragrelay.collection.source import DATASET_KINDS

from tests.unit.config.test_config import check_error
from tests.unit.conftest import PASSAGES, study_of
from tests.unit.kinds.conftest import Drop

NUMBERED = '''"""Folders by number."""

from pydantic import Field

from ragrelay.collection.local import LocalCollection
from ragrelay.collection.source import DatasetSource
from ragrelay.base.errors import InputError


class Numbered(DatasetSource):
    """The folder `data-<number>`."""

    number: int = Field(ge=1, description="The number.")

    def check(self, place, study):
        if not (study.folder / f"data-{self.number}").is_dir():
            raise InputError(f"{place}.number'", str(self.number), "a folder of this number")

    def open(self, folder):
        return LocalCollection(folder / f"data-{self.number}")
'''


def test_source(drop: Drop, config: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest) -> None:
    drop(DATASET_KINDS, "numbered", NUMBERED)
    (tmp_path / "small").rename(tmp_path / "data-7")
    config["datasets"]["small"] = {"source": "numbered", "number": 7, "references": {"strict": 3}}
    study = study_of(config, tmp_path)
    assert study.dataset("small")["shards"] == 1 and study.grades("small") == {"strict": 3}
    assert {passage["docno"] for passage in open_collection(study.dataset("small"), tmp_path).passages()} == set(
        PASSAGES
    )
    reference: str = request.getfixturevalue("reference")
    assert "### `source: numbered`" in reference and "| `number` | integer, ≥ 1 | required | The number. |" in reference
    config["datasets"]["small"]["number"] = 8
    check_error(config, tmp_path, ["'datasets.small.number'", "found 8", "a folder of this number"])
