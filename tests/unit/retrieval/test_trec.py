"""TREC runs: trec_eval's own order, the same bytes for the same run, and read errors by line."""

import ctypes
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import ir_measures
import polars as pl
import pytest
from ir_measures import RR
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.retrieval.build import build_run
from ragrelay.retrieval.trec import (
    RUN,
    check_ids,
    check_run,
    count_doubts,
    count_ties,
    ranked,
    read_ranks,
    read_run,
    write_run,
)

QUERIES = pl.DataFrame({"qid": ["q2", "q10", "q1"], "query": ["two", "ten", "one"]})


def run_of(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=RUN, orient="row")


def trec_evals_order(docnos_scores: list[tuple[str, float]]) -> list[str]:
    """The order that trec_eval itself gives: with one docno judged relevant, its reciprocal rank tells its place."""
    docs = [ir_measures.ScoredDoc(docno, other, score) for docno, _ in docnos_scores for other, score in docnos_scores]
    qrels = [ir_measures.Qrel(docno, docno, 1) for docno, _ in docnos_scores]
    places = {found.query_id: round(1 / found.value) for found in ir_measures.iter_calc([RR], qrels, docs)}
    return sorted(places, key=lambda docno: places[docno])


def test_order_is_trec_evals() -> None:
    chance = random.Random(0)
    docnos = ["d1", "d10", "d2", "D1", "é", "z", "_", "d1a", "aa", "a", "~", "日", "d-1", "d.1", "0", "00"]
    scores = [0.1, 0.1 + 1e-10, 1e6, 1e6 + 0.01, 1e6 + 1, -3.5, 0.0, -0.0, 12.000001, 12.0000012]
    for _ in range(40):
        chosen = [(docno, chance.choice(scores)) for docno in chance.sample(docnos, 10)]
        found = ranked(run_of(*(("q1", docno, score) for docno, score in chosen)), QUERIES)
        assert found["docno"].to_list() == trec_evals_order(chosen)
        assert found["rank"].to_list() == list(range(1, 11))


def test_ties_of_float32_by_docno_descending() -> None:
    found = ranked(run_of(("q1", "a", 0.1 + 1e-10), ("q1", "b", 0.1), ("q1", "c", 0.1 - 1e-10)), QUERIES)
    assert found["docno"].to_list() == ["c", "b", "a"]
    assert found["score"].to_list() == [0.1 - 1e-10, 0.1, 0.1 + 1e-10], "scores themselves are kept as they were"


def test_queries_in_their_own_order_and_others_left_out() -> None:
    found = ranked(run_of(("q1", "a", 1.0), ("q9", "a", 1.0), ("q2", "a", 1.0), ("q2", "b", 2.0)), QUERIES)
    assert found.rows() == [("q2", "b", 1, 2.0), ("q2", "a", 2, 1.0), ("q1", "a", 1, 1.0)]


def test_order_of_the_input_does_not_matter() -> None:
    rows = [(qid, f"d{i}", float(i % 4)) for qid in ("q1", "q2", "q10") for i in range(12)]
    expected = ranked(run_of(*rows), QUERIES)
    random.Random(3).shuffle(rows)
    assert ranked(run_of(*rows), QUERIES).equals(expected)


def test_written_and_read_again(tmp_path: Path) -> None:
    run = ranked(
        run_of(("q1", "d", 0.1), ("q1", "e", 1 / 3), ("q2", "é", -1e-17), ("q10", "d", 123456789.123)), QUERIES
    )
    write_run(run, tmp_path / "x.run.gz", tag="bm25")
    assert read_run(tmp_path / "x.run.gz").equals(run.select("qid", "docno", "score"))
    lines = gzip.decompress((tmp_path / "x.run.gz").read_bytes()).decode().splitlines()
    assert lines[0] == "q2 Q0 é 1 -1e-17 bm25"
    assert lines[2:] == ["q1 Q0 e 1 0.3333333333333333 bm25", "q1 Q0 d 2 0.1 bm25"]


HEADER = ["# ir_metadata.start", "# method:", "#", "#\tautomatic: true", "# a Q0 d 1 2.0 t", "# ir_metadata.end"]


def test_a_header_of_comments_is_left_out(tmp_path: Path) -> None:
    run = ranked(run_of(("q1", "d", 0.5), ("q2", "é", 2.0)), QUERIES)
    write_run(run, tmp_path / "plain.run.gz", tag="t")
    write_run(run, tmp_path / "told.run.gz", "t", HEADER)
    assert read_run(tmp_path / "told.run.gz").equals(read_run(tmp_path / "plain.run.gz"))
    lines = gzip.decompress((tmp_path / "told.run.gz").read_bytes()).decode().splitlines()
    assert lines[: len(HEADER)] == HEADER


def test_comments_are_no_rows_at_the_beginning_alone(tmp_path: Path) -> None:
    """A line of another file that was joined is named; and a qid may begin with the sign."""
    path = tmp_path / "x.run"
    path.write_text("# told\n#1 Q0 d 1 2.0 t\n# told\n")
    with pytest.raises(InputError, match=r"x\.run, line 3: found 2 columns"):
        read_run(path)
    path.write_text("# told\n#1 Q0 d 1 2.0 t\n")
    assert read_run(path).rows() == [("#1", "d", 2.0)]
    path.write_text("# told\nq1 Q0 d 1 high t\n")
    with pytest.raises(InputError, match=r"x\.run, line 2: found score 'high'"):
        read_run(path)


def test_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has neither its name nor the time in it, as gzip would by default."""
    run = ranked(run_of(*(("q1", f"d{i}", i / 7) for i in range(50))), QUERIES)
    write_run(run, tmp_path / "x.run.gz", tag="t")
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_run(run, tmp_path / "y.run.gz", tag="t")
    assert (tmp_path / "x.run.gz").read_bytes() == (tmp_path / "y.run.gz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.run.gz", "y.run.gz"]


def test_reads_plain_tabbed_and_windows_files(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_bytes(b"\xef\xbb\xbfq1\tQ0\td1\t1\t2.5\tt\r\n\r\nq1 Q0  d2 2 1e0 t\r\n")
    assert read_run(tmp_path / "x.run").rows() == [("q1", "d1", 2.5), ("q1", "d2", 1.0)]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("q1 Q0 d2 2 1.0", ["5 columns", "6: qid, Q0, docno, rank, score, tag"]),
        ("q1 Q0 d2 2 1.0 my tag", ["7 columns"]),
        ("q1 Q0 d2 2 nan t", ["score 'nan'", "a finite number"]),
        ("q1 Q0 d2 2 inf t", ["score 'inf'"]),
        ("q1 Q0 d2 2 high t", ["score 'high'"]),
        *((f"q1 Q0 d2 2 {text} t", [f"score '{text}'", "trec_eval"]) for text in ("1_000", "\u0663", "1e400", "-1e39")),
        ("q1 Q0 d\u200b2 2 1.0 t", [r"docno 'd\u200b2', in which character 2 is U+200B"]),
        ("q\x001 Q0 d2 2 1.0 t", ["qid", "U+0000"]),
        ("q1 Q0 d2 2\u00a01.0 t", ["5 columns"]),
        ("q1 Q0 d1 2 1.0 t", ["duplicate docno 'd1' for qid 'q1' (first on line 1)", "unique docnos per query"]),
    ],
)
def test_read_errors_name_the_line(tmp_path: Path, line: str, parts: list[str]) -> None:
    path = tmp_path / "x.run"
    path.write_text(f"q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 2.0 t\n\n{line}\n")
    with pytest.raises(InputError) as error:
        read_run(path)
    message = str(error.value)
    assert all(part in message for part in [f"{path}, line 4", *parts]) and "\n" not in message, message


@pytest.mark.parametrize("score", ["1", "-1.", ".5", "1e-7", "+2E3", "1e-60", "3.4028234e38", "-0.0", "007"])
def test_scores_are_what_trec_eval_reads(tmp_path: Path, score: str) -> None:
    """trec_eval reads with C's atof, into a float."""
    (tmp_path / "x.run").write_text(f"q1 Q0 d1 1 {score} t\n")
    [found] = read_run(tmp_path / "x.run")["score"].cast(pl.Float32)
    libc = ctypes.CDLL(None)
    libc.atof.restype = ctypes.c_double
    assert found == ctypes.c_float(libc.atof(score.encode())).value


DOUBTFUL = {
    "equal": (["1 7.0", "2 7.0", "3 7.0"], [0, 1, 0]),
    "equal, no ranks": (["0 7.0", "0 7.0"], [0, 0, 0]),
    "equal in single precision": (["1 0.1", "2 0.10000000001"], [0, 1, 0]),
    "rising": (["1 1.0", "2 2.0", "3 3.5"], [0, 0, 1]),
    "rising, lines in another order": (["3 3.0", "1 1.0", "2 2.0"], [0, 0, 1]),
    "rising with a tie": (["1 1.0", "2 1.0", "3 3.0"], [0, 0, 1]),
    "falling": (["1 3.0", "2 2.0", "3 1.0"], [0, 0, 0]),
    "one pair turned": (["1 3.0", "2 1.0", "3 2.0"], [0, 0, 1]),
    "a tie of single precision turned": (["1 3.0", "2 2.0", "3 2.00000000001"], [0, 0, 0]),
    "ranks that are no numbers": (["a 1.0", "b 2.0"], [0, 0, 0]),
    "one line": (["1 1.0"], [0, 0, 0]),
}


@pytest.mark.parametrize(("lines", "counts"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_ranks_against_scores_are_counted_by_query(tmp_path: Path, lines: list[str], counts: list[int]) -> None:
    text = "".join(f"q1 Q0 d{number} {line} t\n" for number, line in enumerate(lines))
    (tmp_path / "x.run").write_text(text + "q2 Q0 a 1 2.0 t\nq2 Q0 b 2 1.0 t\n")
    assert [found["count"] for found in count_doubts(read_ranks(tmp_path / "x.run"), QUERIES)] == counts


TIED = {
    "rounded": ("1 2 3 4", "a b c d", "0.9 0.8 0.8 0.1", {2}),
    "in the order of trec_eval": ("1 2 3 4", "a c b d", "0.9 0.8 0.8 0.1", set()),
    "two below the context": ("1 2 3 4", "a b c d", "0.9 0.8 0.1 0.1", {3}),
    "three": ("1 2 3 4", "a b c d", "0.8 0.8 0.8 0.1", {1, 2}),
    "in single precision": ("1 2 3 4", "a b c d", "9.1000000002 9.1000000001 8 7", {1}),
    "integers": ("1 2 3 4", "a b c d", "9 9 9 8", {1, 2}),
    "negative": ("1 2 3 4", "a b c d", "-1.5 -1.5 -2 -3", {1}),
    "ranks from 0": ("0 1 2 3", "a b c d", "0.9 0.9 0.8 0.1", {1}),
    "ranks as numbers with a point": ("1.0 2.0 3.0 4.0", "a b c d", "0.9 0.9 0.8 0.1", {1}),
    "ranks with a gap": ("1 2 4 9", "a b c d", "0.9 0.9 0.8 0.1", {1}),
    "ranks beyond nine, as text": ("9 10 11 12", "a b c d", "0.9 0.9 0.8 0.1", {1}),
    "lines in another order": ("3 1 4 2", "c a d b", "0.8 0.9 0.1 0.9", {1}),
    "all equal": ("1 2 3 4", "a b c d", "7 7 7 7", set()),
    "no ties": ("1 2 3 4", "a b c d", "4 3 2 1", set()),
    "rising": ("1 2 3 4", "a b c d", "0.8 0.8 0.9 0.1", set()),
    "ranks that repeat": ("1 1 2 3", "a b c d", "0.9 0.9 0.8 0.1", set()),
    "ranks that are no numbers": ("- - - -", "a b c d", "0.9 0.9 0.8 0.1", set()),
    "ranks that are not whole": ("1 1.5 2 3", "a b c d", "0.9 0.9 0.8 0.1", set()),
}


@pytest.mark.parametrize(("ranks", "docnos", "scores", "turned"), TIED.values(), ids=TIED)
def test_ties_that_put_other_passages_into_the_context(
    tmp_path: Path, ranks: str, docnos: str, scores: str, turned: set[int]
) -> None:
    """At each k by itself and at all together; and the order of ``ranked`` says the same."""
    path, lines = tmp_path / "x.run", [*zip(docnos.split(), ranks.split(), scores.split(), strict=True)]
    path.write_text("".join(f"q1 Q0 {' '.join(line)} t\n" for line in lines))
    run = read_ranks(path)

    def counted(ks: list[int], ranked_by: str | None = None) -> int:
        return sum(row["count"] for row in count_ties(run, QUERIES, ks, ranked_by))

    assert {k for k in range(1, 6) if counted([k])} == turned
    assert counted([1, 2, 3, 4]) == bool(turned) and not counted([1, 2, 3, 4], "ranks")
    taken = order(path, ranked_by="scores")
    for k in turned:
        assert {*taken[:k]} != {*"abcd"[:k]}
    path.write_text("".join(f"q1 Q0 {docno} {rank} {-float(score)!r} t\n" for docno, rank, score in lines))
    run = read_ranks(path)
    assert counted([1, 2, 3, 4], "distances") == bool(turned)


@pytest.mark.parametrize(("queries", "warned"), [(20, False), (19, True)])
def test_a_warning_of_ties_in_more_than_a_twentieth_of_the_queries(tmp_path: Path, queries: int, warned: bool) -> None:
    """Of those with a judgement and a result."""
    path, asked = tmp_path / "x.run", pl.DataFrame({"qid": [f"q{number}" for number in range(queries)]})
    scores = ["1 1 0", *["3 2 1"] * (queries - 1), *["1 1 0"] * 5]
    path.write_text("".join(f"q{number} Q0 {docno} {rank} {score} t\n" for number, text in enumerate(scores)
                            for docno, rank, score in zip("abc", "123", text.split(), strict=True)))  # fmt: skip
    [found] = count_ties(read_ranks(path), asked, [1, 3], None)
    assert found["count"] == 1 and found.get("sentence") == (
        "1 of 19 queries: ties in the scores put other passages into the first k than the ranks say; write scores with "
        "more decimals, or set the retriever's key ranked_by: ranks" if warned else None
    )  # fmt: skip


def test_doubts_are_logged_when_a_run_is_checked(
    tmp_path: Path,
    write_dataset: Callable[..., Path],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    collection, path = LocalCollection(write_dataset()), tmp_path / "x.run"
    lines = ["q1 Q0 d1 1 1", "q1 Q0 d2 2 2", "q2 Q0 d1 1 2", "q2 Q0 d2 2 1", "q7 Q0 d1 1 1", "q8 Q0 d1 1 1"]
    path.write_text("".join(f"{line} t\n" for line in lines))
    check_run(path, QUERIES, collection, run_kind(), "mine")
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", f"{path}: run lines for queries that are unknown or have no judgement: 2"),
        ("WARNING", f"{path}: queries in which a score rises with the rank (scores count): 1"),
    ]
    assert capsys.readouterr().err == (
        f"ragrelay: warning: {path}: queries in which a score rises with the rank (scores count): 1; the retriever's "
        "key ranked_by says whether ranks or scores are meant\n"
    )
    check_run(path, QUERIES, collection, run_kind(ranked_by="scores"), "mine")
    assert capsys.readouterr().err == "", "a study that says what is meant is not warned"


def run_kind(**keys: str) -> dict[str, str]:
    return {"kind": "run", "path": "x.run", **keys}


def built(path: Path, drop_identical_ids: bool = False, **keys: str) -> pl.DataFrame:
    return build_run(
        None,  # type: ignore[arg-type]
        QUERIES, pl.DataFrame(), run_kind(**keys), runs=[path], name="mine", drop_identical_ids=drop_identical_ids,
    )  # fmt: skip


def order(path: Path, **keys: str) -> list[str]:
    """The order of the passages of q1."""
    return built(path, **keys).filter(qid="q1")["docno"].to_list()


REVERSED = ["q1 Q0 b 1 0.1", "q1 Q0 c 2 0.3", "q1 Q0 a 3 0.2", "q1 Q0 d 4 0.4", "q2 Q0 a 1 1", "q2 Q0 b 2 2"]
FALLING = ["q10 Q0 a 1 9", "q10 Q0 b 2 8", "q3 Q0 a 1 2", "q3 Q0 b 2 1"]


def test_a_reversed_run_is_refused_unless_its_key_says_what_is_meant(
    tmp_path: Path, write_dataset: Callable[..., Path]
) -> None:
    path, collection = tmp_path / "x.run", LocalCollection(write_dataset())
    path.write_text("".join(f"{line} t\n" for line in REVERSED))
    for call in (lambda: order(path), lambda: check_run(path, QUERIES, collection, run_kind(), "mine")):
        with pytest.raises(InputError) as error:
            call()
        assert str(error.value) == (
            f"{path}: found scores that rise with the rank in most queries (2 of 2); expected config key "
            "'retrievers.mine.ranked_by' set to distances, ranks or scores"
        )
    assert order(path, ranked_by="ranks") == ["b", "c", "a", "d"]
    assert order(path, ranked_by="distances") == ["b", "a", "c", "d"]
    assert order(path, ranked_by="scores") == ["d", "c", "a", "b"]
    path.write_text("".join(f"{line} t\n" for line in [*REVERSED, *FALLING]))
    assert order(path) == ["d", "c", "a", "b"], "as many queries fall as rise: a warning"


RANKED = ["a", "b", "c"]
"""Passages of each query, the best first."""
RANKS = {
    "pandas": "1.0 2.0 3.0", "padded": "01 02 03", "exponent": "1e0 2e0 3e0", "from 0": "0 1 2", "signed": "+1 +2 +3",
    "ties": "1.5 1.5 3.0", "in all queries": "17 18 19", "point": "1. 2. 3.",
}  # fmt: skip
NO_RANKS = {"zeros": "0 0 0", "ones": "1 1 1", "NaN": "nan nan nan", "words": "NA NA NA", "dashes": "- - -",
            "text": "#1 #2 #3", "gap": "1 nan 3", "Q0": "Q0 Q0 Q0", "thousands": "999 1,000 1,001"}  # fmt: skip


def with_ranks(path: Path, ranks: str, scores: str, columns: str = "{qid} Q0 {docno} {rank} {score} t") -> Path:
    """A run of all queries with these ranks and scores of RANKED."""
    rows = list(zip(RANKED, ranks.split(), scores.split(), strict=True))
    named = [{"qid": qid, "docno": d, "rank": r, "score": s} for qid in QUERIES["qid"] for d, r, s in rows]
    path.write_text("".join(columns.format(**row) + "\n" for row in named))
    return path


@pytest.mark.parametrize("ranks", [*RANKS.values(), *NO_RANKS.values()], ids=[*RANKS, *NO_RANKS])
def test_distances_are_refused_whatever_the_ranks(tmp_path: Path, ranks: str) -> None:
    """Without usable ranks, the lines are in the order of the ranking."""
    how = "with the rank" if ranks in RANKS.values() else "from line to line, without usable ranks,"
    path = with_ranks(tmp_path / "x.run", ranks, "0.11 0.25 0.61")
    with pytest.raises(InputError, match=f"scores that rise {how} in most queries \\(3 of 3\\); expected .*distances"):
        order(path)
    assert order(path, ranked_by="distances") == RANKED
    assert order(with_ranks(path, ranks, "0.61 0.25 0.11")) == RANKED


def test_scores_without_ranks_may_be_in_any_order(tmp_path: Path) -> None:
    rows = [f"q1 Q0 {docno} 0 {score} t\n" for docno, score in zip("abcd", [2, 1, 4, 3], strict=True)]
    (tmp_path / "x.run").write_text("".join(rows) + "q2 Q0 a 0 1 t\nq2 Q0 b 0 2 t\n")
    assert order(tmp_path / "x.run") == ["c", "d", "a", "b"]


@pytest.mark.parametrize("name", RANKS)
def test_ranks_that_count(tmp_path: Path, name: str) -> None:
    path = with_ranks(tmp_path / "x.run", RANKS[name], "1 2 3")
    if name != "ties":
        assert order(path, ranked_by="ranks") == RANKED


EXCHANGED = "found ranks in the column {} in 3 of 3 queries, and '{}' as a rank; expected qid, Q0, docno, rank, score"


@pytest.mark.parametrize("ranks", ["1 2 3", "0 1 2", "1.0 2.0 3.0"])
@pytest.mark.parametrize("scores", ["9.5 8.5 8.1", "9 8 7", "-0.1 -0.5 -0.9", "0.9 0.9 0.2"])
def test_exchanged_ranks_and_scores(tmp_path: Path, ranks: str, scores: str) -> None:
    path = with_ranks(tmp_path / "x.run", ranks, scores, "{qid} Q0 {docno} {score} {rank} t")
    with pytest.raises(InputError) as error:
        order(path)
    assert EXCHANGED.format("score", scores.split()[0]) in str(error.value)
    assert order(path, ranked_by="scores") == RANKED[::-1]


def test_exchanged_ranks_and_docnos(tmp_path: Path) -> None:
    """As in MS MARCO, whose docnos are numbers, so that other passages than those of the run would be found."""
    lines = [f"{qid} Q0 {rank} {7187158 - rank} {9 - rank} t\n" for qid in ("q1", "q2", "q10") for rank in (1, 2, 3)]
    (tmp_path / "x.run").write_text("".join(lines))
    with pytest.raises(InputError) as error:
        order(tmp_path / "x.run")
    assert EXCHANGED.format("docno", "7187157") in str(error.value)


@pytest.mark.parametrize("scores", ["3 2 1", "2 1 0"])
def test_scores_that_count_down_are_scores(tmp_path: Path, scores: str) -> None:
    for ranks in ("1 2 3", "0 0 0", "0.0 1.0 2.0"):
        assert order(with_ranks(tmp_path / "x.run", ranks, scores)) == RANKED


@pytest.mark.parametrize("qids", ["q{}", "{}"])
@pytest.mark.parametrize("ranked", [True, False])
def test_exchanged_qids_and_docnos(tmp_path: Path, qids: str, ranked: bool) -> None:
    """With names of their own, and with numbers that are both; with ranks, and without."""
    queries = pl.DataFrame({"qid": [qids.format(number) for number in range(1, 5)]})
    rows = [(qid, docno, rank * ranked) for qid in queries["qid"] for rank, docno in enumerate("492", start=1)]
    path, found = tmp_path / "x.run", "the dataset's qids as docnos in 100% of the lines, and as qids in"
    path.write_text("".join(f"{docno} Q0 {qid} {rank} {9 - rank} t\n" for qid, docno, rank in rows))
    with pytest.raises(InputError, match=f"{found} .*; expected the columns qid, Q0, docno, rank, score, tag in this"):
        check_ids(read_ranks(path), str(path), queries)
    path.write_text("".join(f"{qid} Q0 {docno} {rank} {9 - rank} t\n" for qid, docno, rank in rows))
    check_ids(read_ranks(path), str(path), queries)
    check_ids(read_ranks(path), str(path), queries.head(1))


@pytest.mark.parametrize(
    ("second", "wrong"), [("b 1 1", "rank '1' of docno 'a'"), ("b one 1", "rank 'one' of docno 'b'")]
)
def test_ranks_that_count_are_whole_numbers_each_once(tmp_path: Path, second: str, wrong: str) -> None:
    (tmp_path / "x.run").write_text(f"q1 Q0 a 1 2 t\nq1 Q0 {second} t\nq2 Q0 a 1 2 t\n")
    with pytest.raises(InputError, match=f"{wrong} for qid 'q1'; expected whole numbers, unique within a query"):
        order(tmp_path / "x.run", ranked_by="ranks")


def test_distances_of_0_are_ties_by_docno(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q1 Q0 a 1 0.0 t\nq1 Q0 b 2 -0.0 t\nq1 Q0 c 3 0.5 t\n")
    assert order(tmp_path / "x.run", ranked_by="distances") == ["b", "a", "c"]


def test_passages_with_the_id_of_the_query_leave_an_imported_run(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("q1 Q0 q1 1 9 t\nq1 Q0 a 2 8 t\nq1 Q0 q2 3 7 t\nq2 Q0 b 1 9 t\nq2 Q0 q2 2 8 t\n")
    found = built(path, drop_identical_ids=True).select("qid", "docno", "rank").rows()
    assert found == [("q2", "b", 1), ("q1", "a", 1), ("q1", "q2", 2)]
    assert built(path).height == 5


def test_no_such_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "x.run")
