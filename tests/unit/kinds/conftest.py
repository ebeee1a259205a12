"""Adding a kind by dropping a file into a folder of kinds."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.kinds import Kinds
from ragrelay.base.settings import Settings

from tests.support.tools import load_tool

Drop = Callable[[Kinds[Any], str, str], None]


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Drop]:
    """A function that adds ``<kind>.py`` with a text to a sort's folder of kinds, as far as Python sees it."""
    added: list[str] = []

    def add(kinds: Kinds[Any], kind: str, text: str) -> None:
        package = importlib.import_module(kinds.package)
        folder = tmp_path / kinds.package
        folder.mkdir()
        (folder / f"{kind}.py").write_text(text, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        added.append(f"{kinds.package}.{kind}")
        _forget()

    yield add
    for module in added:
        sys.modules.pop(module, None)
    _forget()


def _forget() -> None:
    Settings.__dict__["properties"].__func__.cache_clear()


@pytest.fixture
def reference() -> str:
    """The key reference as `make docs` writes it, when it is asked for."""
    text: str = load_tool("config_reference").reference()
    return text
