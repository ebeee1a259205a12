"""What annexes add to tests that they share with the core, in the modules tests/annexes/<annex>/cases.py.

A test asks for a name, and each module that has it contributes. By sort of study, such as `optional`: ``CONFIG``,
``FILES`` (functions that write files into its folder) and ``TARGETS``; by change, ``EDITS`` (file, old text, new).
"""

import copy
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ragrelay.base.annex import annexes
from snakemake.utils import update_config

from tests.support.sandbox import ROOT


def of_annexes(name: str) -> list[Any]:
    """The values of ``name`` in the modules that there are, and that have one, in the annexes' order."""
    there = [annex.name for annex in annexes() if (ROOT / f"tests/annexes/{annex.name}/cases.py").is_file()]
    modules = [import_module(f"tests.annexes.{annex}.cases") for annex in there]
    return [getattr(module, name) for module in modules if hasattr(module, name)]


def entries_of_annexes(name: str) -> dict[Any, Any]:
    """The entries of the mappings ``name``; sets under the same key are united."""
    found: dict[Any, Any] = {}
    for key, value in (entry for table in of_annexes(name) for entry in table.items()):
        found[key] = found.get(key, set()) | value if isinstance(value, set) else value
    return found


def targets(*of: str) -> tuple[str, ...]:
    """The annexes' targets in studies of these sorts."""
    return tuple(target for sort in of for table in of_annexes("TARGETS") for target in table.get(sort, "").split())


def with_annexes(config: Mapping[str, Any], sort: str) -> dict[str, Any]:
    """Return ``config`` with what annexes add in a study of this sort: mappings are merged, lists replaced."""
    found = copy.deepcopy(dict(config))
    for table in of_annexes("CONFIG"):
        update_config(found, copy.deepcopy(table.get(sort, {})))
    return found


def add_of_annexes(study: Any, sort: str) -> None:
    """Add to ``study`` the keys and files of annexes in one of this sort."""
    study.config |= with_annexes(study.config, sort)
    for table in of_annexes("FILES"):
        if sort in table:
            table[sort](study.folder)


def check_documented(found: set[str], documented: set[str]) -> None:
    """Check that a page names what was found, and nothing else; it may name more once an annex has been taken away."""
    assert found - documented == set()
    assert documented == found or not all_are_there()


def all_are_there() -> bool:
    """Whether no annex of docs/architecture.md has been taken away."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    listed, _ = text.split("\n## Annexes\n")[1].split(" Each is a directory")
    return set(re.findall(r"`(\w+)`(?: \([^)]*\))?[,.]", listed)) == {annex.name for annex in annexes()}
