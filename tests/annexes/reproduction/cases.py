"""Cases of published tables for shared tables (tests.support.annex_cases)."""

from tests.support.bad_input_changes import Case, Change, Expected, both, file, key

PUBLISHED = "dataset,retriever,ordering,k,references,mean_utility\ndl19,bm25,descending,2,strict,0.1\n"


def published(content: str) -> Change:
    """A published table of this content."""
    return both(file("table1.csv", content), key("published.utility", "table1.csv"))


BAD_INPUT = {"Configuration": [
        Case("Published table that is missing", key("published.utility", "table1.csv")),
        Case("Published table without a column", published("dataset,retriever\n")),
        Case("Published value that is no number", published(PUBLISHED.replace("0.1", "+.1†"))),
        Case("Published cell twice", published(PUBLISHED + PUBLISHED.splitlines()[1] + "\n")),
        Case(
            "Name that the published table does not have",
            both(published(PUBLISHED), key("published.names", {"retrievers": {"oracle": "rel"}})),
        ),
        Case(
            "Name of a published table that nothing here has",
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
        ('"' + ROW, "\n", "can't be read"),
        (ROW, ",k\n", "column 'k' twice"))),
    ("a path too long: published.utility", key("published.utility", "x" * 300 + ".csv"), "File name too long"),
]  # fmt: skip
