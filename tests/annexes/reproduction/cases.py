"""Cases of published tables for shared tables (tests.support.annex_cases)."""

from pathlib import Path

from tests.support.bad_input_changes import Case, Change, Expected, both, file, key

CEILING = {"annex reproduction": 2550}  # tests of it that the core had
PUBLISHED = "dataset,retriever,ordering,k,references,mean_utility\ndl19,bm25,descending,2,strict,0.1\n"


def published(content: str) -> Change:
    """A published table of this content."""
    return both(file("table1.csv", content), key("published.utility", "table1.csv"))


BAD_INPUT = {"Configuration": [
        Case("Missing published table", key("published.utility", "table1.csv")),
        Case("Published table without a column", published("dataset,retriever\n")),
        Case("Published value that isn't a number", published(PUBLISHED.replace("0.1", "+.1†"))),
        Case("Published cell twice", published(PUBLISHED + PUBLISHED.splitlines()[1] + "\n")),
        Case(
            "Name that the published table lacks",
            both(published(PUBLISHED), key("published.names", {"retrievers": {"oracle": "rel"}})),
        ),
        Case(
            "Name for a published table that the study lacks",
            both(published(PUBLISHED), key("published.names", {"retrievers": {"bm25": "bm52"}})),
        ),
        Case("Published labels without annotation sources", both(
            file("labels.csv", "retriever,dataset,annotation,measure,coefficient,value\n"),
            key("published.labels", "labels.csv"),
        )),
]}  # fmt: skip
ROW = "d,rel,descending,2,lenient,0.1\n"
HOSTILE: list[Expected] = [
    *((f"published: {text[:40]!r}", published(PUBLISHED.splitlines()[0] + end + text), expected)
      for text, end, expected in (
        (ROW.replace("2", "2_0"), "\n", "k '2_0'"), (ROW.replace("2", "\u0662"), "\n", "k '\u0662'"),
        (ROW.replace("0.1", "1_0"), "\n", "mean_utility '1_0'"), (ROW.replace("0.1", "1e400"), "\n", "'1e400'"),
        ('"' + ROW, "\n", "an unreadable line"),
        (ROW, ",k\n", "duplicate column 'k'"))),
    ("a path too long: published.utility", key("published.utility", "x" * 300 + ".csv"), "File name too long"),
]  # fmt: skip
# Made for the small study; the cell of k = 15 is none of its own.
ROWS = {
    "utility": [
        "dataset,retriever,ordering,k,references,mean_utility,differs_from_rel,differs_from_reversed,mean_p0",
        "dl,bm25,descending,2,lenient,0.1,true,false,0.5",
        "dl,bm25,ascending,2,lenient,0.2,true,false,0.5",
        "dl,Oracle,descending,2,lenient,0.3,false,false,0.5",
        "dl,Oracle,descending,15,lenient,0.4,false,false,0.5",
    ],
    "labels": [
        "retriever,dataset,annotation,measure,coefficient,value",
        "bm25,dl,erag,P,tau,0.5", "bm25,dl,erag,P,rho,0.6", "contriever,dl,erag,P,tau,0.7",
    ],
    "label_cost": ["dataset,end_to_end_seconds,erag_seconds", "dl,100,50"],
    "claims": ["model,dataset,mean_acu", "Llama,few,0.25", "Pythia,few,0.5"],
}  # fmt: skip


TABLES = {name: f"published/{name.removeprefix('label_')}.csv" for name in ROWS}
NAMES = {"datasets": {"dl": "small"}, "retrievers": {"Oracle": "rel"}, "generators": {"Llama": "demo-lm"}}
TARGETS = {"optional": "reproduce"}
CONFIG = {"optional": {"published": {**TABLES, "names": NAMES}}}
EDITS = {
    "inputs": [
        (TABLES["utility"], "0.1,true", "0.15,true"),
        (TABLES["labels"], "tau,0.5", "tau,0.55"),
        (TABLES["label_cost"], "100,50", "100,60"),
        (TABLES["claims"], "few,0.25", "few,0.3"),
    ]
}


def _tables(folder: Path) -> None:
    (folder / "published").mkdir()
    for name, path in TABLES.items():
        (folder / path).write_text("\n".join(ROWS[name]) + "\n", encoding="utf-8")


FILES = {"optional": _tables}
FILE_KEYS = {f"published.{name}": [path] for name, path in TABLES.items()}
SEVERAL = {"compare_published_table": {"read_published", "compare_published_labels"}}
OTHER_SCRIPTS = {"reproduction/compare_published_table.py"}
