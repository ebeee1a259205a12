"""Bad data files: told in one line with file and line, at the first stage that reads them."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.local import LocalCollection
from ragrelay.collection.prepare import prepare_collection, prepare_references

from tests.unit.conftest import ROOT

GRADES = {"lenient": 2, "strict": 3}


def message_of(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        call()
    message = str(error.value)
    assert "\n" not in message and ": found " in message and "; expected " in message, message
    return message


def prepared(collection: LocalCollection) -> None:
    queries, qrels, _ = prepare_collection(collection, "dataset small")
    prepare_references(collection, queries, qrels, GRADES, "dataset small")


def read(folder: Path, name: str) -> object:
    collection = LocalCollection(folder)
    if name.startswith("passages"):
        return list(collection.passages())
    return collection.qrels() if name == "qrels.txt" else collection.queries()


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("queries.tsv", b"q1\tone\nq2\ttwo\nq1\tthree\n", ["line 3", "duplicate qid 'q1' (first on line 1)"]),
        ("queries.tsv", b"q1\tone\nq2\t  \n", ["line 2", "no text for qid 'q2'"]),
        ("queries.tsv", b"q1\tone\n\nq2 two\n", ["line 3", "no tab", "qid<TAB>text"]),
        ("queries.tsv", b"q1\tone\n\ttwo\n", ["line 2", "qid ''", "without whitespace"]),
        ("queries.tsv", b"q 1\tone\n", ["line 1", "qid 'q 1'", "without whitespace"]),
        ("queries.tsv", b"q1\tcaf\xe9\n", ["line 1", "byte 0xe9", "UTF-8"]),
        ("queries.tsv", b"q1\tone\nq2\t\xff\xfe\n", ["line 2", "byte 0xff", "UTF-8"]),
        ("queries.tsv", b"qid\tquery\nq1\tone\n", ["line 1", "an apparent header ('qid' has no judgements)"]),
        ("queries.tsv", b"\xef\xbb\xbf\nQID\ttext\nq1\tone\n", ["line 2", "an apparent header ('QID' has no"]),
        ("queries.tsv", b"q1\tone\rq2\ttwo\r", ["line 1", "a carriage return in the line", "LF or CRLF"]),
        ("queries.tsv", b"q1\tone\tmore\n", ["line 1", "3 columns", "2: qid<TAB>text"]),
        (
            "queries.tsv",
            b"q1\x00\tone\n",
            ["line 1", r"qid 'q1\x00', in which character 3 is U+0000", "visible"],
        ),
        ("queries.tsv", b"q1\t\xe2\x80\x8b\n", ["line 1", "no text for qid 'q1'"]),
        *(
            ("queries.tsv", b"q1\tone\nq2\ta " + character.encode() + b"b\n", ["line 2", f"U+{code} at character 3"])
            for code, character in zip(("0000", "001B", "000B", "007F", "0085"), "\0\x1b\v\x7f\x85", strict=True)
        ),
        ("queries.tsv", b"\n\n", ["no queries"]),
        ("queries.tsv", b"", ["no queries"]),
        ("passages.jsonl", b'{"doc_id": "a", "text": "x"}\n{"doc_id": "b", "text": "y"\n', ["line 2", "invalid JSON"]),
        ("passages.jsonl", b'["a", "x"]\n', ["line 1", "a list", "a JSON object"]),
        ("passages.jsonl", b'{"id": "a", "text": "x"}\n', ["line 1", "'doc_id'"]),
        ("passages.jsonl", b'{"doc_id": "a", "contents": "x"}\n', ["line 1", "'text'"]),
        ("passages.jsonl", b'{"doc_id": 7.5, "text": "x"}\n', ["line 1", "'doc_id'"]),
        ("passages.jsonl", b'{"doc_id": "a", "text": null}\n', ["line 1", "'text'"]),
        ("passages.jsonl", b'{"doc_id": "a b", "text": "x"}\n', ["line 1", "doc_id 'a b'", "without whitespace"]),
        (
            "passages.jsonl",
            b'{"doc_id": "a", "text": "x"}\n{"doc_id": "a", "text": "y"}\n',
            ["line 2", "duplicate doc_id 'a'"],
        ),
        ("passages.jsonl", b'{"doc_id": "a", "text": " \\n"}\n', ["found no passages with text"]),
        ("passages.jsonl", b'{"doc_id": "a", "text": "cut \\ud83d"}\n', ["line 1", "surrogate"]),
        ("passages.jsonl", b'{"doc_id": "a", "text": "\xe9"}\n', ["line 1", "byte 0xe9", "UTF-8"]),
        *(
            (
                "passages.jsonl",
                json.dumps({"doc_id": f"d1{unseen}", "text": "x"}).encode(),
                ["line 1", f"in which character 3 is U+{ord(unseen):04X}", "visible"],
            )
            for unseen in "\0\x1b\x7f\xad\u034f\u115f\u200b\u200c\u200d\u2060\u2800\u3164\ue000\ufe0f\ufeff\U000e0041"
        ),
        (
            "passages.jsonl",
            b'{"doc_id": "a", "text": "x\\u0000"}\n',
            ["line 1", "U+0000 at character 2", "text without NUL"],
        ),
        *(
            ("passages.jsonl", b'{"doc_id": "a", "text": "' + text + b'"}\n', ["found no passages with text"])
            for text in (rb"\u200b\u200b", rb"\u3164 \u115f", rb"\ufe0f\u00ad\n", rb"\u0007", rb"\u2800")
        ),
        ("passages.jsonl", b'{"doc_id": "a", "text": "x", "doc_id": "b"}\n', ["line 1", "duplicate key 'doc_id'"]),
        ("passages.jsonl", b'{"doc_id": "a", "text": "x", "m": {"k": 1, "k": 2}}\n', ["line 1", "duplicate key 'k'"]),
        ("passages.jsonl", b"", ["no passage"]),
        ("qrels.txt", b"q1 0 a 1\nq1 0 b\n", ["line 2", "3 columns", "4: qid, iteration, docno, label"]),
        ("qrels.txt", b"q1 0 a 1 x\n", ["line 1", "5 columns"]),
        ("qrels.txt", b"q1 0 a 1\nq1 0 b relevant\n", ["line 2", "label 'relevant'", "an integer"]),
        ("qrels.txt", b"q1 0 a 1.0\n", ["line 1", "label '1.0'"]),
        ("qrels.txt", b"q1 0 a 1000000\n", ["line 1", "label '1000000'", "at most 6 digits"]),
        ("qrels.txt", b"q1 0 a\xe2\x80\x8b 1\n", ["line 1", r"docno 'a\u200b'", "character 2 is U+200B"]),
        ("qrels.txt", b"q1\x00 0 a 1\n", ["line 1", "qid", "character 3 is U+0000"]),
        ("qrels.txt", b"q1 0 a\xc2\xa01\n", ["line 1", "3 columns"]),
        ("qrels.txt", b"q1\xc2\xa0x 0 a 1\n", ["line 1", "a qid without whitespace"]),
        ("qrels.txt", b"q1 0 a 1\nq1 0 b 2\nq1 1 a 2\n", ["line 3", "'q1'", "'a'", "on line 1)", "one judgement per"]),
        ("qrels.txt", b"\n", ["no judgement"]),
        ("answers.jsonl", b'{"qid": "q1", "answers": "tea"}\n', ["line 1", '"answers": "tea"']),
        ("answers.jsonl", b'{"qid": "q1", "answers": ["tea", 1]}\n', ["line 1"]),
        ("answers.jsonl", b'{"answers": ["tea"]}\n', ["line 1"]),
        ("answers.jsonl", b'{"qid": "q1", "answers": []}\n{"qid": "q1", "answers": ["x"]}\n', ["line 2", "duplicate"]),
        ("answers.jsonl", b'{"qid": "q1", "qid": "q2", "answers": []}\n', ["line 1", "duplicate key 'qid'"]),
        ("answers.jsonl", b'{"qid": "q1", "answers": ["a\\u0000"]}\n', ["line 1", "U+0000 at character 2"]),
        ("answers.jsonl", b'{"qid"\n', ["line 1", "invalid JSON"]),
    ],
)
def test_malformed(write_dataset: Callable[..., Path], name: str, content: bytes, parts: list[str]) -> None:
    folder = write_dataset()
    (folder / name).write_bytes(content)
    message = message_of(lambda: read(folder, name))
    assert all(part in message for part in [str(folder / name), *parts]), message


def test_texts_that_nobody_would_type_are_kept(write_dataset: Callable[..., Path]) -> None:
    """Joiners are letters of several scripts' words; accents may stand in ids."""
    text, qid = "\u0915\u094d\u200d\u0937 caf\u00c3\x80\x99 \u200b\x07 x\u00ad", "e\u0301\u4e2d"
    folder = write_dataset(passages={qid: text}, queries={qid: "a\u200cb"}, qrels=[(qid, qid, 3)])
    collection = LocalCollection(folder)
    assert list(collection.passages()) == [{"docno": qid, "text": text}]
    assert collection.queries().rows() == [(qid, "a\u200cb")] and collection.qrels().rows() == [(qid, qid, 3)]


def test_a_judged_query_is_no_header(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset(queries={"id": "who pumps", "q1": "why"}, qrels=[("id", "d1", 3), ("q1", "d2", 2)])
    assert LocalCollection(folder).queries()["qid"].to_list() == ["id", "q1"]


@pytest.mark.parametrize("name", ["passages.jsonl", "queries.tsv", "qrels.txt"])
def test_missing(write_dataset: Callable[..., Path], name: str) -> None:
    folder = write_dataset()
    (folder / name).unlink()
    assert "no such file" in message_of(lambda: read(folder, name))


def test_gzip_cut_short_or_garbled(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset(passages={f"d{i}": f"passage {i * 7919} of many" for i in range(4000)})
    whole = gzip.compress((folder / "passages.jsonl").read_bytes())
    (folder / "passages.jsonl").unlink()
    path = folder / "passages.jsonl.gz"
    path.write_bytes(whole)
    assert len(list(LocalCollection(folder).passages())) == 4000
    for content in (whole[: len(whole) // 2], whole[:-4], whole[:5000] + b"\0" * 100 + whole[5100:]):
        path.write_bytes(content)
        message = message_of(lambda: list(LocalCollection(folder).passages()))
        assert str(path) in message and ("damaged .gz data" in message or "line" in message), message
    path.write_bytes(b'{"doc_id": "a", "text": "x"}\n')
    assert "damaged .gz data" in message_of(lambda: list(LocalCollection(folder).passages()))


def test_no_judgement_for_any_query(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset(qrels=[("other", "d1", 3)])
    message = message_of(lambda: prepared(LocalCollection(folder)))
    assert message.startswith("qrels of dataset small: found no judgements for any query")


def test_no_reference_at_a_grade(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset(qrels=[("q1", "d1", 2), ("q2", "d2", 1)])
    message = message_of(lambda: prepared(LocalCollection(folder)))
    assert "no passage with text and a label ≥ 3" in message and "grade 'strict'" in message


def test_no_reference_with_a_text(write_dataset: Callable[..., Path]) -> None:
    folder = write_dataset(qrels=[("q1", "gone", 3), ("q1", "d1", 0)])
    assert "label ≥ 2" in message_of(lambda: prepared(LocalCollection(folder)))


TOLD = "a.tsv, line 3: found no tab; expected one"
SCRIPT = """
import sys; sys.path.insert(0, {path!r})
from ragrelay.base.errors import InputError
from ragrelay.execution.jobs.scripts import job_log
with job_log({log!r}):
    raise {error}
"""


@pytest.mark.parametrize(
    ("error", "on_terminal", "in_log"),
    [
        (
            "InputError('a.tsv, line 3', 'no tab', 'one')",
            "ragrelay: error: a.tsv, line 3: found no tab; expected one\n",
            False,
        ),
        ("ZeroDivisionError('why')", "Traceback", True),
    ],
)
def test_jobs_end(tmp_path: Path, error: str, on_terminal: str, in_log: bool) -> None:
    """What a user can correct is one line; what only we can has a traceback, also in the log; both end with 1."""
    log = tmp_path / "x.log"
    code = SCRIPT.format(path=str(ROOT / "workflow/scripts"), log=str(log), error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(on_terminal)
    assert ("Traceback" in log.read_text()) is in_log
    if not in_log:
        assert done.stderr == on_terminal
        assert TOLD in log.read_text()
