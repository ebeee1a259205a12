"""Published tables: those that are shipped, and what is wrong with others, by line."""

from pathlib import Path

import pytest
from ragrelay.annexes.reproduction.published import LAYOUTS, read_published
from ragrelay.base.errors import InputError

from tests.support.sandbox import ROOT

SHIPPED = {
    "utility": ("tian2025_table1.csv", 112), "labels": ("salemi2024_table1.csv", 480),
    "label_cost": ("salemi2024_table2.csv", 5), "claims": ("hagstrom2025_mean_acu.csv", 16),
}  # fmt: skip
HEAD = "dataset,retriever,ordering,k,references,mean_utility,differs_from_rel\n"
ROW = "d,bm25,descending,2,lenient,0.1,true\n"


@pytest.mark.parametrize("kind", LAYOUTS)
def test_shipped_tables_can_be_read(kind: str) -> None:
    name, rows = SHIPPED[kind]
    assert len(read_published(ROOT / "resources/published" / name, kind, {})) == rows
    assert name in (ROOT / "resources/published/README.md").read_text(encoding="utf-8")


def test_names_of_the_study_take_the_place_of_the_published_ones(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(HEAD + ROW + "d,rel,descending,2,lenient,,\n")
    found = read_published(path, "utility", {"retrievers": {"rel": "ideal"}, "datasets": {"d": "dl19"}})
    assert [(row["dataset"], row["retriever"], row["k"], row["mean_utility"]) for row in found] == [
        ("dl19", "bm25", 2, 0.1), ("dl19", "ideal", 2, None),
    ]  # fmt: skip
    assert [row["differs_from_rel"] for row in found] == [True, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table.csv: found no content; expected columns dataset, retriever, ordering, k, references, mean_utility"),
        ("a,b\n", "table.csv, line 1: found only columns a, b; expected dataset, retriever, ordering, k"),
        (HEAD + "d,bm25\n", "table.csv, line 2: found 2 values; expected 7, one per column"),
        (HEAD + ROW.replace("0.1", "much"), "table.csv, line 2: found mean_utility 'much'; expected a number"),
        (HEAD + ROW.replace("0.1", "nan"), "table.csv, line 2: found mean_utility 'nan'; expected a number"),
        (HEAD + ROW.replace("2", "x"), "table.csv, line 2: found k 'x'; expected a whole number"),
        (HEAD + ROW.replace("2", "1_0"), "table.csv, line 2: found k '1_0'; expected a whole number"),
        (HEAD + ROW.replace("2", "\u0662"), "table.csv, line 2: found k '\u0662'; expected a whole number"),
        (HEAD + ROW.replace("0.1", "1_0.5"), "table.csv, line 2: found mean_utility '1_0.5'; expected a number"),
        (HEAD + ROW.replace("d,", '"d,'), "table.csv, line 2: found an unreadable line (unexpected"),
        (HEAD.replace("\n", ",k\n") + ROW, "line 1: found duplicate column 'k'; expected unique column"),
        (HEAD + ROW.replace("true", "yes"), "line 2: found differs_from_rel 'yes'; expected true or false"),
        (HEAD + ROW + ROW, "table.csv, line 3: found a second row for dataset d, retriever bm25, ordering descending"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError) as told:
        read_published(path, "utility", {})
    assert message in str(told.value)
