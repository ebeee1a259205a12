"""Parts that are joined: what readers see before, between any two steps, and afterwards."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.io.parquet_parts import GRACE, PartStore

SCHEMA = {"key": pl.String, "value": pl.Int64}
KEYS = pl.DataFrame({"key": ["a", "b", "c", "d", "e"]})
MADE = {"engine": "x", "seconds": "1.50", "answer_tokens": "10", "peak_memory_mib": "7"}


@pytest.fixture
def store(tmp_path: Path) -> PartStore:
    """Four parts; b and c are made twice, with other values: the earlier ones count."""
    made = PartStore(tmp_path / "store", SCHEMA, ["key"])
    for keys, first in (("ab", 0), ("bc", 10), ("cd", 20)):
        made.add(pl.DataFrame({"key": [*keys], "value": [first, first + 1]}), MADE)
    made.add(pl.DataFrame({"key": ["e"], "value": [30]}), {**MADE, "engine": "y"})
    return made


def seen(store: PartStore) -> list[tuple[str, int]]:
    """The rows as a reader finds them that has not looked at the store before."""
    fresh = PartStore(store.folder, store.schema, store.key)
    return sorted(fresh.read(fresh.held(KEYS)).rows())


EXPECTED = [("a", 0), ("b", 1), ("c", 11), ("d", 21), ("e", 30)]


def aged(store: PartStore) -> None:
    """Make the listings older than any reader."""
    for listing in store.folder.glob("*.json"):
        os.utime(listing, (0, time.time() - GRACE - 1))


def test_the_same_rows_count_and_only_parts_of_one_origin_are_joined(store: PartStore) -> None:
    before = seen(store)
    assert store.join() == (3, 1)
    assert before == seen(store) == EXPECTED
    joined, other = store.parts()
    assert store.metadata(joined) | {"written": ""} == {
        "engine": "x", "seconds": "4.50", "answer_tokens": "30", "peak_memory_mib": "7", "written": "",
    }  # fmt: skip
    assert store.metadata(other)["engine"] == "y"
    assert store.join() == (0, 0), "there is nothing more to join"


def test_parts_stay_while_a_reader_may_have_them(store: PartStore) -> None:
    located = store.held(KEYS)
    store.join()
    assert store.remove_replaced() == (0, 3)
    assert sorted(store.read(located).rows()) == EXPECTED
    aged(store)
    assert store.remove_replaced() == (3, 0)
    assert seen(store) == EXPECTED and len([*store.folder.glob("part-*")]) == 2


def test_rows_that_another_part_has_all_of_leave_that_part_as_it_is(tmp_path: Path) -> None:
    store = PartStore(tmp_path, SCHEMA, ["key"])
    for value in (1, 2):
        store.add(pl.DataFrame({"key": ["a"], "value": [value]}), {})
    first = store.parts()[0]
    assert store.join() == (2, 1)
    assert store.parts() == [first] and seen(store) == [("a", 1)]


def test_what_was_joined_is_joined_again_with_what_came_later(store: PartStore) -> None:
    sizes = [part.stat().st_size for part in store.parts()]
    store.join(most=sum(sizes[:2]))
    assert store.join() == (2, 1)
    aged(store)
    assert store.remove_replaced()[1] == 0
    assert seen(store) == EXPECTED and len(list(store.folder.glob("part-*.parquet"))) == 2


def test_no_more_than_so_many_bytes_are_joined(store: PartStore) -> None:
    sizes = [part.stat().st_size for part in store.parts()]
    assert store.join(most=sum(sizes[:2])) == (2, 1)
    assert seen(store) == EXPECTED


STEPS: dict[str, Callable[[PartStore], object]] = {
    "join": lambda store: store.join(),
    "remove": lambda store: store.remove_replaced(),
}


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_write_it_shows_each_row_once_and_goes_on(
    store: PartStore, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed before the first change of the folder, before the second, and so on until it gets through."""
    if step == "remove":
        store.join()
        aged(store)
    changes = ("replace", "unlink")
    kept = {name: getattr(Path, name) for name in changes}
    left = [0]

    def killed(name: str, *arguments: object, **options: object) -> object:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        return kept[name](*arguments, **options)

    for number in range(20):
        left[0] = number
        with monkeypatch.context() as patched:
            for name in changes:
                patched.setattr(Path, name, lambda *a, name=name, **o: killed(name, *a, **o))
            try:
                STEPS[step](PartStore(store.folder, store.schema, store.key))
                break
            except KeyboardInterrupt:
                pass
        assert seen(store) == EXPECTED, f"killed before change {number}"
    assert number > 0 and seen(store) == EXPECTED
    store.join()
    aged(store)
    store.remove_replaced()
    assert seen(store) == EXPECTED and not list(store.folder.glob("part-*.json"))
    assert [store.metadata(part)["seconds"] for part in store.parts()] == ["4.50", "1.50"]


def test_what_a_damaged_part_replaces_counts_again(store: PartStore) -> None:
    store.join()
    joined = store.parts()[0]
    joined.write_bytes(joined.read_bytes()[:-1])
    aged(store)
    assert store.remove_replaced() == (0, 3)
    assert seen(store) == EXPECTED
