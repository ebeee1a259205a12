"""An ordering is one entry of ORDERINGS: added there, it is in the schema, the key reference, cells and prompts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.settings import Settings
from ragrelay.base.vocabulary.orderings import ORDERINGS, distinct_orderings
from ragrelay.prompting.layout import kshot_prompts
from ragrelay.prompting.templates import Template

from tests.support.tools import load_tool
from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of

NAME = "second_first"


@pytest.fixture
def added(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A configuration that asks for it."""
    monkeypatch.setitem(ORDERINGS, NAME, lambda n, _: [*range(1, min(n, 2)), 0, *range(2, n)])
    Settings.__dict__["properties"].__func__.cache_clear()
    config["grid"]["orderings"] = ["descending", NAME]
    yield config
    Settings.__dict__["properties"].__func__.cache_clear()


def test_it_is_in_the_grid_and_in_the_reference(added: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(added, tmp_path).grid.orderings == ["descending", NAME]
    assert f"`{NAME}`" in load_tool("config_reference").reference()
    added["grid"]["orderings"] = ["secnd_first"]
    check_error(added, tmp_path, ["'grid.orderings.0'", NAME, f"did you mean '{NAME}'?"])


def test_prompts_are_laid_out_by_it() -> None:
    queries = pl.DataFrame({"qid": ["q"], "query": ["tea"]})
    contexts = pl.DataFrame({"qid": "q", "rank": [1, 2, 3], "docno": ["a", "b", "c"], "text": ["A", "B", "C"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ORDERINGS, NAME, lambda n, _: [*range(1, min(n, 2)), 0, *range(2, n)])
        (row,) = kshot_prompts(queries, contexts, Template(kshot="{contexts}{query}", context="{text} "), NAME, 3).rows(
            named=True
        )
        assert (row["docnos"], row["prompt"]) == (["b", "a", "c"], "B A C tea")
        # With one passage it is every ordering's prompt, with two that of ascending.
        assert distinct_orderings([("descending", 1), (NAME, 1)])[NAME, 1] == ("descending", 1)
        assert distinct_orderings([("ascending", 2), (NAME, 2)])[NAME, 2] == ("ascending", 2)
