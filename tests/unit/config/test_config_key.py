"""A configuration key is one field: added there, it is checked, filled in, in the reference and in editors' schema."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import Field
from ragrelay.base.settings import Settings
from ragrelay.config import schema
from ragrelay.config.schema import validated

from tests.support.tools import load_tool
from tests.unit.config.test_config import check_error
from tests.unit.conftest import at, study_of


class WiderGrid(schema.Grid):
    """Which names of the catalogue, and which values, are crossed."""

    languages: list[str] = Field(["en"], min_length=1, description="Languages of the prompts.")


class WiderConfiguration(schema.Configuration):
    """A configuration whose grid has one more key."""

    grid: WiderGrid


def forget() -> None:
    Settings.__dict__["properties"].__func__.cache_clear()


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The tool that writes the reference, with the key added."""
    monkeypatch.setattr(schema, "Configuration", WiderConfiguration)
    forget()
    yield load_tool("config_reference")
    forget()


def test_it_has_its_default_and_is_checked(added: ModuleType, config: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(config, tmp_path).grid.languages == ["en"]  # type: ignore[attr-defined]
    at(config, "grid.languages", ["en", 5])
    check_error(config, tmp_path, ["'grid.languages.1'", "found 5", "a text"])
    at(config, "grid.languages", None)
    check_error(config, tmp_path, ["'grid.languages'", "found None", "a list"])
    at(config, "grid.languages", [])
    check_error(config, tmp_path, ["'grid.languages'", "at least 1 item"])
    at(config, "grid.languages", ...)
    at(config, "grid.language", ["en"])
    check_error(config, tmp_path, ["'grid'", "unknown key 'language'", "did you mean 'languages'?"])


def test_it_is_in_the_reference_and_in_the_schema(added: ModuleType) -> None:
    assert '| `languages` | list of strings | `["en"]` | Languages of the prompts. |' in added.reference()
    assert '"description": "Languages of the prompts."' in added.schema_text()


def test_a_configuration_with_its_defaults_is_left_as_it_is(config: dict[str, Any]) -> None:
    """Each default must be a value that users may write, of the type that it has then: 60.0 and not 60."""
    once = validated(config).mapping()
    assert repr(validated(once).mapping()) == repr(once)


def test_a_value_of_several_types_is_refused_by_the_one_that_it_has(config: dict[str, Any], tmp_path: Path) -> None:
    for value, parts in (
        (["<a>", "<b>", "<c>"], ["'generators.lm.thinking'", "at most 2 items"]),
        (["<a>", ""], ["'generators.lm.thinking.1'", "found ''", "at least 1 character"]),
        (None, ["'generators.lm.thinking'", "found None; expected a mapping, a list or 'none'"]),
    ):
        at(config, "generators.lm.thinking", value)
        check_error(config, tmp_path, parts)


def test_null_is_accepted_only_where_the_reference_says_so(config: dict[str, Any], tmp_path: Path) -> None:
    at(config, "near_copy", None)
    assert study_of(config, tmp_path).config["near_copy"] is None
    at(config, "near_copy", "half")
    check_error(config, tmp_path, ["'near_copy'", "found 'half'; expected a number or null"])
    at(config, "near_copy", 1)
    assert repr(study_of(config, tmp_path).config["near_copy"]) == "1"
    at(config, "budget", {"tokens": None})
    check_error(config, tmp_path, ["'budget.tokens'", "found None; expected an integer"])
