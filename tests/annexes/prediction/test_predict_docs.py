"""docs/predictors.md against the predictors' classes."""

from tests.support.sandbox import ROOT
from tests.support.tools import load_tool


def test_the_table_is_in_step() -> None:
    text = (ROOT / "docs/predictors.md").read_text(encoding="utf-8")
    assert load_tool("predictors").page(text) == text, "run `make docs`"
