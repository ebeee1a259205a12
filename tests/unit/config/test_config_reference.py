"""The pages of keys, and config/README.md, against the schema and the configurations that the project ships."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import yaml
from ragrelay.config.schema import load_schema

from tests.support.sandbox import ROOT
from tests.support.tools import load_tool
from tests.support.tracked import tracked

KEYWORDS = {
    "additionalProperties", "anyOf", "const", "default", "description", "enum",
    "exclusiveMinimum", "format", "items", "maximum", "maxItems", "minItems", "minLength", "minProperties", "minimum",
    "oneOf", "pattern", "properties", "propertyNames", "required", "title", "type", "uniqueItems",
}  # fmt: skip


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return load_tool("config_reference")


def properties(schema: Any, path: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, key, definition) of every property anywhere in the schema."""
    if isinstance(schema, dict):
        for name, sub in schema.items():
            if name == "properties":
                for key, definition in sub.items():
                    yield path, key, definition
                    yield from properties(definition, f"{path}.{key}")
            else:
                yield from properties(sub, f"{path}.{name}")
    elif isinstance(schema, list):
        for place, sub in enumerate(schema):
            yield from properties(sub, f"{path}[{place}]")


def test_the_pages_are_what_the_schema_says(generator: ModuleType) -> None:
    text = generator.INDEX.read_text(encoding="utf-8")
    assert text == generator.index(text), "run `make docs`"
    for path, page in generator.pages().items():
        assert path.read_text(encoding="utf-8") == page, "run `make docs`"


def test_every_key_stands_in_a_page_with_its_description(generator: ModuleType) -> None:
    text, pages = generator.reference(), "".join(generator.pages().values())
    for _, key, definition in properties(load_schema()):
        assert f"`{key}`" in text and f"`{key}`" in pages
        about = definition["description"]
        assert about in text and about.replace("(../docs/", "(../") in pages, key


def test_the_index_leads_to_every_key(generator: ModuleType) -> None:
    text, schema = generator.INDEX.read_text(encoding="utf-8"), load_schema()
    assert all(f"| [`{key}`](../docs/reference/keys-" in text for key in schema["properties"])


def test_a_key_that_no_page_names_is_on_the_last(generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {name: (subject, keys) for name, (subject, keys) in generator.PAGES.items() if name != "retrievers"}
    monkeypatch.setattr(generator, "PAGES", kept)
    assert "## `retrievers`" in list(generator.pages().values())[-1]


def test_every_key_has_a_whole_description_and_only_known_keywords() -> None:
    """An unquoted comma in YAML's braces ends a description early and leaves its rest as an unknown keyword."""
    wrong = {
        f"{path}.{key}": definition
        for path, key, definition in properties(load_schema())
        if not str(definition.get("description", "")).endswith(".") or set(definition) - KEYWORDS
    }
    assert wrong == {}


def test_the_schema_for_editors_is_what_the_keys_say(generator: ModuleType) -> None:
    assert generator.SCHEMA.read_text(encoding="utf-8") == generator.schema_text(), "run `make docs`"
    first = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={generator.SCHEMA.name}"


def test_a_page_without_its_mark_is_refused(generator: ModuleType) -> None:
    with pytest.raises(ValueError, match="found no line"):
        generator.index("# Configuration\n")


def test_every_shipped_configuration_has_a_line_in_the_page(generator: ModuleType) -> None:
    text = generator.INDEX.read_text(encoding="utf-8")
    for path in tracked("config/*.yaml"):
        assert f"`{path.name}`" in text
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        # One that makes no other answers may be asked of the finished demo, under its name.
        makes = {"datasets", "retrievers", "orderings", "k", "seeds", "generators"} & config.get("grid", {}).keys()
        assert config["study"] != "demo" or path.name == "config.yaml" or not makes, path.name
