"""Which cells a preview has, and what its configuration says."""

from itertools import product
from typing import Any

import pytest
from ragrelay.errors import InputError
from ragrelay.planning.preview import Scored, missing_note, preview_config, preview_grid

NAMES = {"datasets": ["d1", "d2"], "scorers": ["s"], "generators": ["g1", "g2"], "retrievers": ["a", "b", "c"]}


def cells(*lacking: tuple[str, ...]) -> list[Scored]:
    """All cells of NAMES; those are not there that have every name of one of ``lacking``."""
    keys = product(*[*list(NAMES.values())[:3], ["zeroshot", *NAMES["retrievers"]]])
    return [Scored(*key, there=not any(set(names) <= set(key) for names in lacking)) for key in keys]


def test_all_cells_are_all_names() -> None:
    assert preview_grid(cells()) == NAMES
    assert missing_note(cells(), NAMES).endswith(": every cell has scores.")


@pytest.mark.parametrize(
    ("lacking", "left_out"),
    [
        ([("c",)], {"retrievers": ["c"]}),
        ([("d2", "g1", "c")], {"retrievers": ["c"]}),
        ([("g2", "zeroshot")], {"generators": ["g2"]}),
        ([("g2",), ("d1", "b")], {"generators": ["g2"], "retrievers": ["b"]}),
        ([("d2",)], {"datasets": ["d2"]}),
    ],
)
def test_names_without_all_their_cells_are_left_out(
    lacking: list[tuple[str, ...]], left_out: dict[str, list[str]]
) -> None:
    expected = {key: [name for name in names if name not in left_out.get(key, [])] for key, names in NAMES.items()}
    assert preview_grid(cells(*lacking)) == expected
    said = missing_note(cells(*lacking), expected)
    for section, names in left_out.items():
        assert f"{section} {', '.join(names)}" in said


def test_nothing_to_show_is_one_line() -> None:
    for lacking in ([("zeroshot",)], [("a",), ("b",), ("c",)]):
        with pytest.raises(InputError, match="no retriever with all scores"):
            preview_grid(cells(*lacking))


def test_it_has_a_name_of_its_own_and_makes_nothing_new() -> None:
    config: dict[str, Any] = {
        "study": "mine",
        "grid": {**NAMES, "k": [1], "annotations": ["erag"]},
        "generators": {"g1": {"notice": "It is small."}, "g2": {}},
        "analysis": {"seed": 3, "primary": {"retriever": "c"}},
        "budget": {"tokens": 1},
    }
    made = preview_config(config, cells(("c",)))
    assert made["study"] == "mine-preview" and made["cache_mode"] == "read-only" and "budget" not in made
    assert made["grid"] == {**NAMES, "retrievers": ["a", "b"], "k": [1], "annotations": []}
    assert made["generators"]["g1"]["notice"] == (
        "Preview of 12 of 16 tables of scores: it lacks retrievers c. It is small."
    )
    assert made["analysis"] == {"seed": 3} and config["analysis"]["primary"] == {"retriever": "c"}
    assert preview_config(config, cells(("b",)))["analysis"] == config["analysis"]
