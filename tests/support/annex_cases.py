"""Cases of annexes for tables that they share with the core: of the modules tests/annexes/<annex>/cases.py."""

from importlib import import_module
from typing import Any

from ragrelay.base.annex import annexes

from tests.support.sandbox import ROOT


def of_annexes(name: str) -> list[Any]:
    """The values of ``name`` in the modules that there are, and that have one, in the annexes' order."""
    there = [annex.name for annex in annexes() if (ROOT / f"tests/annexes/{annex.name}/cases.py").is_file()]
    modules = [import_module(f"tests.annexes.{annex}.cases") for annex in there]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
