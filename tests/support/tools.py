"""The scripts of tools/ as modules."""

import importlib.util
from types import ModuleType

from tests.support.sandbox import ROOT


def load_tool(name: str) -> ModuleType:
    """Execute tools/``name``.py, and return it as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
