"""Labels by answers to single passages from files: the keys of such a study."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.config.test_config import check_error
from tests.unit.conftest import at, study_of
from tests.unit.generation.test_file_engine import brought  # noqa: F401


def test_keys(config: dict[str, Any], tmp_path: Path) -> None:
    """eRAG takes a generator of files with this key, and not without."""
    (tmp_path / "all.jsonl").write_text("")
    (tmp_path / "alone.small.jsonl").write_text("")
    at(config, "grid.annotations", ["erag"])
    at(config, "annotations", {"erag": {"kind": "erag"}})
    at(config, "grid.scorers", ["rouge"])
    at(config, "scorers", {"rouge": {"kind": "rouge", "variant": "rouge1"}})
    files = {"engine": "file", "path": "all.jsonl"}
    at(config, "generators.lm", files)
    check_error(config, tmp_path, ["'annotations.erag.generator'", "key single_passages for this generator"])
    at(config, "generators.lm", {**files, "single_passages": "alone.{k}.jsonl"})
    check_error(config, tmp_path, ["'generators.lm.single_passages'", "{k} in", "names in braces: dataset, seed"])
    at(config, "generators.lm", {**files, "single_passages": "none.{dataset}.jsonl"})
    check_error(config, tmp_path, ["'generators.lm.single_passages'", "no file none.small.jsonl"])
    at(config, "generators.lm", {**files, "single_passages": "alone.{dataset}.jsonl"})
    assert study_of(config, tmp_path).generator("lm")["single_passages"] == "alone.{dataset}.jsonl"


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (
            {"grid.annotations": ["erag"], "annotations": {"erag": {"kind": "erag"}}},
            ["'annotations.erag.generator'", "found 'lm', whose answers come from a file"],
        ),
        (
            {"grid.annotations": ["llm"], "annotations": {"llm": {"kind": "llm", "generator": "lm"}}},
            ["'annotations.llm.generator'", "lm, with engine file"],
        ),
    ],
)
def test_sources_that_need_an_engine(
    brought: dict[str, Any],  # noqa: F811
    tmp_path: Path,
    changes: dict[str, Any],
    parts: list[str],
) -> None:
    for path, value in changes.items():
        at(brought, path, value)
    check_error(brought, tmp_path, parts)
