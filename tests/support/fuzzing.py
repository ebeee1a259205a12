"""Inputs that hypothesis makes of good ones: each must end in a result that fits it, or in one line."""

import copy
import ctypes
import functools
import json
import math
import operator
import re
import unicodedata
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ragrelay.base.errors import InputError
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile
from ragrelay.collection.local import LocalCollection
from ragrelay.config.start import start
from ragrelay.generation.endpoint_replies import ReplyError, read_reply, reply_row
from ragrelay.retrieval.trec import count_doubts, read_ranks

from tests.support.bad_input import CONFIG, FILES, write_files
from tests.support.fake_endpoint import REQUESTS

LIBC = ctypes.CDLL(None)
LIBC.atof.restype = ctypes.c_double
PIECES = [b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\x1b[2J", b'"', b"\\", b"{", b"}", b"[", b",", b":", b"-",
          b"_",
          b"1e400", b"1_000", b"nan", b"0x1p3", b"\\u0000", b"\\ud800", b"\\u200b", b"\xff", b"\xc3", b"\xef\xbb\xbf",
          b'"text": "x", ']  # fmt: skip
CHARACTERS = "é中\u0301\u00a0\u00ad\u200b\u200d\u2028\u3000\u3164\u2800\ufeff\ufe0f\u0663\U000e0041\U0001f375\x85\x1c"
PIECES += [character.encode() for character in CHARACTERS]
EDITS = st.lists(
    st.tuples(
        st.integers(-9, -1) | st.integers(0, 999), st.integers(0, 3), st.sampled_from(PIECES) | st.binary(max_size=3)
    ),
    min_size=1,
    max_size=3,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.integers() | st.floats()
    | st.sampled_from(["small", "rel", "lm", "~/x", "$HOME", "../x", "plan.csv", "\0", "a\nb", "q:f"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip
DATA = {
    "small/queries.tsv": "queries",
    "small/passages.jsonl": "passages",
    "small/qrels.txt": "qrels",
    "small.run": "run",
}
REPLY: dict[str, Any] = {
    "choices": [{"text": "tea d1", "finish_reason": "stop", "logprobs": {"token_logprobs": [-0.5, -1.25]}}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
}
ANSWERS: list[dict[str, Any]] = [
    {"qid": "q1", "answer": "tea", "retriever": "rel", "ordering": "random", "k": 2, "seed": 1, "docnos": ["d1", "d2"]},
    {"topic_id": "q1", "run_id": "rel", "references": ["d1", "d2"], "metadata": {"team_id": "us", "narrative_id": 2},
     "answer": [{"text": "tea", "citations": [0, "d2"]}, {"text": "rice", "citations": []}]},
]  # fmt: skip


def fuzz(name: str, folder: Path, model: Path, examples: int, seed: int | None = None) -> list[bool]:
    """Try ``examples`` made of the good file or configuration ``name``, below ``folder``; whether each was accepted.

    Without a ``seed``, the same are made each time.
    """
    accepted: list[bool] = []
    folder.mkdir()
    with chdir(folder):
        write_files(model)
        good = yaml.safe_load(CONFIG)
        made = MADE.get(name, EDITS) if name != "config" else st.tuples(st.sampled_from(paths_of(good)), VALUES)

        @settings(max_examples=examples, deadline=None, database=None, derandomize=seed is None,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(made)
        def one(made: Any) -> None:
            accepted.append(TRIES[name](made) if name in TRIES else try_file(name, made))
            assert not list(Path().rglob(".tmp-*"))

        (hypothesis.seed(seed)(one) if seed is not None else one)()
    return accepted


def ends(call: Callable[[], None]) -> bool:
    """Whether it is accepted; an error must be one line with what was found and expected."""
    try:
        call()
    except InputError as error:
        message = str(error)
        assert message.isprintable() and ": found " in message and "; expected " in message, message
        return False
    return True


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The keys and places that lead to each value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [one for key, sub in parts for one in paths_of(sub, (*path, key))]
    return [path, *below] if path else below


def changed(config: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of ``config`` with another value at ``path``."""
    made = copy.deepcopy(config)
    place = functools.reduce(operator.getitem, path[:-1], made)
    place[path[-1]] = value
    return made


def try_config(made: tuple[tuple[str, ...], Any]) -> bool:
    config = changed(yaml.safe_load(CONFIG), *made)

    def run() -> None:
        study, _ = start(config, [], ["prompts"])
        json.dumps(study.selected(), allow_nan=False)

    return ends(run)


def edited(content: bytes, edits: list[tuple[int, int, bytes]], marks: bytes) -> bytes:
    """``content`` with bytes removed and pieces put in, below 0 behind one of ``marks``, a pattern."""
    for where, removed, piece in edits:
        marked = [found.end() for found in re.finditer(marks, content)]
        at = marked[where % len(marked)] if where < 0 and marked else max(where, 0) * (len(content) + 1) // 1000
        content = content[:at] + piece + content[at + removed :]
    return content


def try_file(name: str, edits: list[tuple[int, int, bytes]]) -> bool:
    content = edited(("\n".join(FILES[name]) + "\n").encode(), edits, rb"\b[qd]\d| (?=\d)")
    Path(name).write_bytes(content)
    return ends(lambda: READERS[DATA[name]](content))


def try_reply(content: bytes) -> bool:
    """An endpoint's reply with status 200: the answer that it has, or an error of one line."""
    reply = SimpleNamespace(content=content, status_code=200, headers={"content-type": "application/json"})
    try:
        row = reply_row(REQUESTS[0], read_reply(reply, as_chat=False))
    except ReplyError as error:
        assert str(error).isprintable(), str(error)
        return False
    body = json.loads(content)
    text = body["choices"][0]["text"]
    assert (row["answer"] or "") == (text or "").strip()
    if row["answer"] is None:  # missing, with why
        assert row["finish_reason"] not in ("stop", "length")
    else:
        assert text is not None and row["answer"].encode("utf-8").decode("utf-8") == row["answer"]
    counts = [row["prompt_tokens"], row["answer_tokens"]]
    assert counts == [(body.get("usage") or {}).get(name) for name in ("prompt_tokens", "completion_tokens")]
    assert all(count is None or (type(count) is int and 0 <= count < 2**63) for count in counts)
    assert row["logprob"] is None or math.isfinite(row["logprob"])
    return True


def try_answers(content: bytes) -> bool:
    """A line of answers that were made elsewhere."""
    Path("answers.jsonl").write_bytes(content)

    def run() -> None:
        rows = read_answer_rows([AnswerFile(Path("answers.jsonl"), {})]).to_dicts()
        for line, row in zip(lines_of(content), rows, strict=True):
            record = json.loads(line, object_pairs_hook=once)
            about = {**record, **(record["metadata"] if isinstance(record.get("metadata"), dict) else {})}
            assert row["qid"] in map(str, (about.get(name) for name in ("qid", "topic_id", "narrative_id")))
            assert seen(row["qid"]) and all(map(seen, row["docnos"] or ())) and "\0" not in (row["answer"] or "")
            assert row["answer"] == record["answer"] or all(one["text"] in row["answer"] for one in record["answer"])
            given = record.get("docnos", record.get("references"))
            assert not row["docnos"] or isinstance(given, str) or set(row["docnos"]) <= set(given)
            for name in ("k", "seed"):
                assert row[name] is None or float(record[name]) == row[name] >= 0

    return ends(run)


def lines_of(content: bytes) -> list[str]:
    """Split a text file as any program does, without blank lines."""
    return [line for line in content.decode("utf-8-sig").split("\n") if line.strip()]


def seen(text: str) -> bool:
    """Tell by Unicode's categories, not in the reader's way, whether every character of ``text`` is seen."""
    return all(unicodedata.category(one)[0] not in "CZ" for one in text)


def read_queries(content: bytes) -> None:
    (Path("small") / "qrels.txt").write_text("\n".join(FILES["small/qrels.txt"]))
    queries = LocalCollection("small").queries()
    assert queries.height == len(lines_of(content)) == queries["qid"].n_unique()
    for (qid, text), line in zip(queries.iter_rows(), lines_of(content), strict=True):
        assert seen(qid) and line.count("\t") >= 1 and line.startswith(qid) and text == line.partition("\t")[2].strip()
        assert not any(unicodedata.category(one) == "Cc" for one in text)


def read_passages(content: bytes) -> None:
    passages = list(LocalCollection("small").passages())
    records = [json.loads(line, object_pairs_hook=once) for line in lines_of(content)]
    assert passages == [{"docno": record["doc_id"], "text": record["text"]} for record in records]
    assert all(seen(passage["docno"]) and "\0" not in passage["text"] for passage in passages)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


def read_qrels(content: bytes) -> None:
    qrels, lines = LocalCollection("small").qrels(), lines_of(content)
    assert qrels.height == len(lines)
    for (qid, docno, label), line in zip(qrels.iter_rows(), lines, strict=True):
        assert seen(qid + docno) and line.split() == [qid, line.split()[1], docno, line.split()[3]]
        assert LIBC.atoi(line.split()[3].encode()) == label


def read_runs(content: bytes) -> None:
    run, lines = read_ranks("small.run"), lines_of(content)
    assert run.height == len(lines)
    for (qid, docno, score, _), line in zip(run.iter_rows(), lines, strict=True):
        assert seen(qid + docno) and (qid, docno) == (line.split()[0], line.split()[2])
        assert math.isfinite(ctypes.c_float(score).value) and LIBC.atof(line.split()[4].encode()) == score
    assert all(found["count"] >= 0 for found in count_doubts(run, run.select("qid").unique()))


def records(good: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """``good`` in JSON with another value somewhere, or with other bytes."""
    return st.builds(
        lambda made: json.dumps(changed(good, *made)).encode(), st.tuples(st.sampled_from(paths_of(good)), VALUES)
    ) | st.builds(lambda edits: edited(json.dumps(good).encode(), edits, rb'": '), EDITS)


MADE = {"reply": records(REPLY), "answers": records(ANSWERS[0]) | records(ANSWERS[1])}
READERS = {"queries": read_queries, "passages": read_passages, "qrels": read_qrels, "run": read_runs}
TRIES: dict[str, Callable[[Any], bool]] = {"config": try_config, "reply": try_reply, "answers": try_answers}
NAMES = [*TRIES, *DATA]
