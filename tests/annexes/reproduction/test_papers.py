"""The table of the papers' tables and figures: current, complete, and of files and targets that exist."""

import re
from collections.abc import Iterator

import pytest
from ragrelay.annexes.reproduction.rows import list_published_rows
from ragrelay.execution.study.files import result_files

from tests.support.rule_files import RULE_FILES
from tools.papers import PAGES, ROOT, STATES, page, read

ROWS = read()


def _paths() -> Iterator[str]:
    for row in ROWS:
        for place in row["place"].split("; "):
            path = place.split(" ")[0]
            if "/" in path and not path.startswith(("resources/", "config/")):
                yield path


def test_the_pages_are_current() -> None:
    assert {*PAGES} == {row["paper"] for row in ROWS}
    for paper, name in PAGES.items():
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert text == page(paper, text), "run `make docs`"


def test_every_row_has_a_state_and_a_place_or_a_reason() -> None:
    items = [(row["paper"], row["item"]) for row in ROWS]
    assert len(set(items)) == len(items)
    for row in ROWS:
        assert row["state"] in STATES, row
        assert row["because"] or row["state"] == "as printed", row
        assert bool(row["place"]) == bool(row["command"]) == (row["state"] != "out of reach"), row


def test_a_study_touches_the_rows_of_its_papers() -> None:
    """Rows are chosen by the names of the printed tables that the study names, in whatever folder these are."""
    folder = ROOT / "resources/published"
    assert {row["printed"] for row in ROWS} - {""} <= {path.name for path in folder.glob("*.csv")}
    touched = list_published_rows(folder / "rows.csv", ["mine/salemi2024_table2.csv", "mine/other.csv"])
    assert touched["item"].to_list() == [row["item"] for row in ROWS if row["paper"] == "Salemi and Zamani 2024"]
    assert list_published_rows(folder / "rows.csv", ["mine/other.csv"]).is_empty()


@pytest.mark.parametrize("path", sorted(set(_paths())))
def test_the_place_is_a_file_of_a_study(path: str) -> None:
    patterns = [one.path.removeprefix("<results>/") for one in result_files()]
    known = [re.sub(r"\{(\w+)\}", "[^/]+", re.sub(r"\{(\w+(?:\|\w+)+)\}", r"(\1)", one)) for one in patterns]
    found = [one for one in known if re.fullmatch(one, re.sub("<(\\w+)>", "\\1", path))]
    assert found, path


@pytest.mark.parametrize("command", sorted({row["command"] for row in ROWS if row["command"]}))
def test_the_command_names_what_there_is(command: str) -> None:
    targets = "".join(path.read_text(encoding="utf-8") for path in RULE_FILES)
    if command.startswith("pytest"):
        assert (ROOT / command.split()[1]).exists()
        return
    assert (ROOT / re.search(r"--configfile (\S+)", command)[1]).exists()
    named = re.search(r"(?:slurm|--cores 2) (\w+) ", command)[1]
    assert f"rule {named}:" in targets
