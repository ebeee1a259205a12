"""YAML read with each key once: what is refused, where, and what is no repetition."""

from pathlib import Path

import pytest
import yaml
from ragrelay.base.errors import InputError
from ragrelay.base.io.yaml_keys import read_yaml


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: found duplicate key 'a' (first on line 1)"),
        ("x:\n  - k: 1\n    k: 2\n", "line 3: found duplicate key 'k' (first on line 2)"),
        ('{"a": {"b": 1,\n"b": 2}}', "line 2: found duplicate key 'b' (first on line 1)"),
        ("1: x\n1: y\n", "line 2: found duplicate key '1' (first on line 1)"),
        ("a: &a {x: 1}\nb:\n  <<: *a\n  y: 1\n  y: 2\n", "line 5: found duplicate key 'y' (first on line 4)"),
    ],
)
def test_a_key_twice(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(InputError) as error:
        read_yaml(tmp_path / "c.yaml")
    assert str(error.value) == f"{tmp_path / 'c.yaml'}, {found}; expected unique keys"


@pytest.mark.parametrize(
    "text",
    [
        "1: x\n'1': y\n",
        "a: {k: 1}\nb: {k: 2}\n",
        "base: &b {x: 1}\nouter: {inner: &a {<<: *b, x: 2}}\nlast: {<<: *a, x: 3}\n",
        "\ufeffa: [&c {d: 1}, *c]\n",
        "",
    ],
    ids=["types", "places", "merged", "shared", "empty"],
)
def test_what_is_no_repetition(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    assert read_yaml(tmp_path / "c.yaml") == yaml.safe_load(text)


def test_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text('a: "x\n')
    with pytest.raises(yaml.YAMLError):
        read_yaml(tmp_path / "c.yaml")
