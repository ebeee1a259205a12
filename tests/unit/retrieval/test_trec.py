"""TREC runs: trec_eval's own order, the same bytes for the same run, and read errors by line."""

import gzip
import random
from pathlib import Path

import ir_measures
import polars as pl
import pytest
from ir_measures import RR
from ragrelay.errors import InputError
from ragrelay.retrieval.trec import RUN, ranked, read_run, write_run

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


def test_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the file's name nor the clock stands in the file, as gzip would have it."""
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
        ("q1 Q0 d1 2 1.0 t", ["docno 'd1' again for qid 'q1' (line 1)", "each docno once per query"]),
    ],
)
def test_read_errors_name_the_line(tmp_path: Path, line: str, parts: list[str]) -> None:
    path = tmp_path / "x.run"
    path.write_text(f"q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 2.0 t\n\n{line}\n")
    with pytest.raises(InputError) as error:
        read_run(path)
    message = str(error.value)
    assert all(part in message for part in [f"{path}, line 4", *parts]) and "\n" not in message, message


def test_no_such_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "x.run")
