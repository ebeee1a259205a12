"""A second campaign of hostile inputs, none of them in bad_input_cases: each declares what it must end in.

FINE is a study that gets as far as its engine; anything else is part of the one line that it ends with.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.annex_cases import of_annexes
from tests.support.bad_input import CONFIG
from tests.support.bad_input_changes import (
    FINE,
    PASSAGES,
    PLAN,
    QRELS,
    QUERIES,
    RUN,
    SERVED,
    Case,
    Change,
    Expected,
    answered,
    both,
    endpoint,
    file,
    key,
    line,
    model_file,
    model_key,
    set_variable,
    without,
)

LONG = "x" * 100_000


def campaign() -> Iterator[tuple[Case, str]]:
    """Every case with what it must end in."""
    own = (TYPES, BOUNDS, NAMES, ADDRESSES, SECRETS, MODELS, TEMPLATES, FILES, RECENT, UNUSUAL, FINE_ONES)
    for part in (*own, *of_annexes("HOSTILE")):
        for what, change, expected in part:
            yield Case(what, change), expected


def _typed() -> list[Expected]:
    """Values of other types, where a number, a text, a list or a mapping belongs."""
    places: dict[str, list[Any]] = {
        "study": [1, None, [], {}, True],
        "grid": [1, None, [], "x"],
        "grid.k": ["1", None, {}, [None], [[1]], [True], [1e400], ["1e3"], [10**30]],
        "grid.seeds": ["1", None, {}, [None], [True], [1.0]],
        "grid.retrievers": ["rel", None, {}, [1], [None], [["rel"]]],
        "grid.measures": ["nDCG", [1], [None], [{}]],
        "datasets": [None, [], "x"],
        "datasets.small": [None, [], "x", {}],
        "datasets.small.path": [None, 1, [], {}],
        "datasets.small.references": [None, [], 2, {"lenient": "2"}, {"lenient": 2.5}, {"lenient": None}, {}],
        "generators.lm": [None, [], "x", 7],
        "generators.lm.temperature": ["0.3", None, [], True, float("inf"), -float("inf")],
        "generators.lm.stop": ["STOP", None, {}, [1], [None], [""]],
        "generators.lm.max_tokens": ["16", None, 16.5, True, [16]],
        "generators.lm.chat_template_kwargs": [None, [], "x"],
        "scorers.minilm.layer": ["6", None, 6.5, True],
        "retrievers.rel.min_label": ["2", None, 2.5],
        "cache_dir": [None, 1, [], {}],
        "context_depth": ["50", None, 50.5, True],
        "analysis": [None, [], "x", 7],
    }  # fmt: skip
    return [
        (f"{path}: {json.dumps(value)[:30]}", key(path, value), path)
        for path, values in places.items()
        for value in values
    ]


TYPES = _typed()
BOUNDS: list[Expected] = [
    (f"{path}: {value}", key(path, value), path.rpartition(".")[2])
    for path, value in (
        ("generators.lm.temperature", -0.1), ("generators.lm.top_p", 0), ("generators.lm.top_p", 1.1),
        ("generators.lm.min_p", -1), ("generators.lm.min_p", 2), ("generators.lm.max_tokens", 0),
        ("generators.lm.max_tokens", -5), ("generators.lm.top_k", -1), ("generators.lm.threads", 0),
        ("generators.lm.flush_seconds", -1), ("generators.lm.max_model_len", 0), ("generators.lm.max_model_len", 513),
        ("generators.lm.max_model_len", 10**12), ("generators.lm.gpu_memory_utilization", 1.5),
        ("generators.lm.tensor_parallel_size", 0), ("generators.lm.cpu_kvcache_gib", 0),
        ("generators.lm.thinking", ["<think>"]), ("generators.lm.thinking", ["a", "b", "c"]),
        ("generators.lm.dtype", "float12"), ("generators.lm.over_window", "cut"), ("generators.lm.engine", "llama.cpp"),
        ("context_depth", 0), ("context_depth", -1), ("near_copy", 7),
        ("analysis.resamples", 0), ("analysis.resamples", -1), ("grid.k", [-1]), ("grid.k", [51]),
    )
]  # fmt: skip
NAMES: list[Expected] = [
    (f"study: {name!r}"[:40], key("study", name), "study")
    for name in ("..", "a/b", "a\\b", "-rf", "$(x)", "{x}", "a\nb", "é", "a" * 65, "a\u200bb", "\u202ea", "")
]
ADDRESSES: list[Expected] = [
    (f"base_url: {address!r}", endpoint(base_url=address), "base_url")
    for address in (
        "http:/host", "http:host", "HTTP//host", "ws://host/v1", "http://:80", "http://host:-1", "http://host:1e3",
        "unix:///run/x", "http://ho\tst", "http://host\\v1", "data:text/html,x", " http://host", "http://host/ v1",
        "http://host/v1?", "http://host/v1#x", "http://\u200bhost/v1", "http://[1:2", "", "\n",
    )
    if address not in ("http://host\\v1", "http://host/v1?")  # which are addresses
]  # fmt: skip
SECRETS: list[Expected] = [
    (f"a secret in {path}", key(path, secret), "found ")
    for path, secret in (
        ("study", "ghp_" + "aB3dE6gH9jK1" * 3), ("cache_dir", "/tmp/sk-proj-1234567890abcdef1234"),
        ("datasets.small.path", "s3://me:pass@bucket/x"), ("generators.lm.notice", "key AKIAIOSFODNN7EXAMPLE"),
        ("generators.lm.stop", ["gsk_aB3dE6gH9jK1aB3dE6gH9jK1"]), ("pathvars.results", "x/?token=abcdefgh"),
        ("generators.lm.chat_template_kwargs", {"deep": [{"er": "xoxb-123456789012-abcdef"}]}),
        ("generators.lm.revision", "hf_abcdefghijklmnopqrstuvwxyz"),
    )
]  # fmt: skip
for what, value in (("a blank", "a b\t"), ("another script", "ключ"), ("a tab", "a\tb")):
    served = endpoint(base_url="https://host/v1", api_key_env="MY_KEY")
    SECRETS.append((f"a key with {what}", both(set_variable("MY_KEY", value), served), "MY_KEY"))
PASSWORD = both(set_variable("OPENAI_BASE_URL", "http://a:b@host/v1"), key("generators.lm", SERVED))
SECRETS.append(("a password in the environment's address", PASSWORD, "OPENAI_BASE_URL"))
MODELS: list[Expected] = [
    *((f"config.json: {content[:20]!r}", model_file("config.json", content), "config.json")
      for content in (b"", b"null", b"[]", b'"x"', b"{", b"\xff\xfe{}", b'{"a": NaN', b"7", b"{}{}")),
    *((f"model_type: {kind!r}", model_key("model_type", kind), "model_type")
      for kind in (1, True, [], {}, "LLAMA ", "llama\n", "../llama", "x" * 1000)),
    *((f"weights: {content[:12]!r}", model_file("model.safetensors", content), "model.safetensors")
      for content in (b"\0", b"\0" * 8, b"\xff" * 8, b"\x02" + bytes(7), b"\x02" + bytes(7) + b"[]",
                      b"\x02" + bytes(7) + b"{}x", b"PK\x03\x04" + b"x" * 99, b"<html>" * 99)),
    *((f"tokenizer: {content[:12]!r}", model_file("tokenizer.json", content), "tokenizer.json")
      for content in (b" ", b"[]", b"null", b'{"model": 7}', b'{"model": {}', b"{" + b"x" * 99 + b"}", b"<html>}")),
    ("weights without a list's part", model_file("x.safetensors.index.json", b"{}"), "index.json"),
    ("a quantisation of another library", key("generators.lm.quantization", "q4_k_m"), "quantization"),
    ("no model at all", without("lm/config.json"), "config.json"),
]  # fmt: skip
TEMPLATES: list[Expected] = [
    (f"template: {text[:24]!r}", file("prompts/plain.yaml", text), "prompts/plain.yaml")
    for text in (
        "", "- a", "7", "zeroshot: x", 'zeroshot: ""\nkshot: ""\ncontext: ""', "zeroshot: 1\nkshot: 2\ncontext: 3",
        'zeroshot: "{query"\nkshot: "{contexts}{query}"\ncontext: "{text}"',
        'zeroshot: "{query!r}"\nkshot: "{contexts}{query}"\ncontext: "{text}"',
        'zeroshot: "{query.__class__}"\nkshot: "{contexts}{query}"\ncontext: "{text}"',
        'zeroshot: "{0}"\nkshot: "{contexts}{query}"\ncontext: "{text}"',
        'zeroshot: "{}"\nkshot: "{contexts}{query}"\ncontext: "{text}"',
        "zeroshot: !!python/name:os.system x", "zeroshot: *a", "a: 1\n---\nb: 2", "zeroshot: [", "\tzeroshot: x",
    )
]  # fmt: skip
BAD_PASSAGES = (
    "null", "7", '"x"', "{}", '{"doc_id": "d9"}', '{"doc_id": null, "text": "x"}', '{"doc_id": "", "text": "x"}',
    '{"doc_id": "d9", "text": ["x"]}', '{"doc_id": "a\\tb", "text": "x"}', '{"doc_id": ["d9"], "text": "x"}',
    "{'doc_id': 'd9', 'text': 'x'}", '{"doc_id": "d9", "text": "x"} x', '{"doc_id": "d9", "text": "\\ude00"}',
    '{"doc_id": "d9" "text": "x"}', '{"doc_id": "d9", "text": "a\tb"}', f'{{"a": {"[" * 2000}',
)  # fmt: skip
FILES: list[Expected] = [
    *((f"passages: {text[:30]!r}", line(PASSAGES, text), "small/passages.jsonl, line 4") for text in BAD_PASSAGES),
    *((f"queries: {text[:30]!r}", line(QUERIES, text), "small/queries.tsv, line 3")
      for text in ("q3", "\tno id", "q 3\tx", "q3\t", "q1\tagain", "q3    four blanks")),
    *((f"qrels: {text[:30]!r}", line(QRELS, text), "small/qrels.txt, line 5")
      for text in ("q1", "q1 0 d9", "q1 0 d9 one", "q1 0 d9 1 1", "q1 0 d9 1e0", "q1 0 d9 ٣", "q1 0 d9 1_0",
                   "q1 0 d9 99999999999", "q1 0 d9 999999999", "q1 0 d1 3", "q1 0 d9 --1")),
    *((f"run: {text[:30]!r}", line(RUN, text), "small.run, line 4")
      for text in ("q1", "q1 Q0 d9 1 1", "q1 Q0 d9 1 one t", "q1 Q0 d9 1 inf t", "q1 Q0 d1 9 0.1 t",
                   "q1 Q0 d9 1 1 t t")),
    ("qrels that are a folder", lambda _: (Path(QRELS).unlink(), Path(QRELS).mkdir()), "qrels.txt"),
    ("a run that is a folder", lambda _: (Path(RUN).unlink(), Path(RUN).mkdir()), "small.run"),
]  # fmt: skip


def _answers(name: str, content: str | bytes) -> Change:
    """A generator whose answers are in this file."""
    entry = {"engine": "file", "path": name}
    return both(file(name, content), key("grid.generators", ["lm", "theirs"]), key("generators.theirs", entry))


def _plan(content: str | bytes) -> Change:
    """A budget, and a plan of this content."""
    return both(key("budget.tokens", 9), lambda _: Path(PLAN).parent.mkdir(), file(PLAN, content))


ANSWER = '{"qid": "q2", "answer": "tea", "retriever": "rel", "k": 1, '
CITED = '{"topic_id": "q2", "run_id": "rel", "references": ["d3"], '
RECENT: list[Expected] = [
    *((f"answers: {text[len(ANSWER):][:30]!r}", answered(text), expected) for text, expected in (
        (ANSWER + f'"docnos": "{"[" * 100_000}"}}', "docnos '[[["), (ANSWER + '"docnos": ["d3\\u0000"]}', "U+0000"),
        (ANSWER + '"docnos": ["d 3"]}', "docno 'd 3'"), (ANSWER + '"docnos": 7}', "docnos 7"),
        (ANSWER + '"seed": "\u0661"}', "seed '\u0661'"), (ANSWER + '"seed": "1_0"}', "seed '1_0'"),
        (ANSWER + f'"seed": {"9" * 40}}}', "seed 999"), (ANSWER + '"seed": true}', "seed True"),
        (ANSWER + '"ordering": ["random"]}', "ordering ['random']"), (ANSWER + '"a": NaN, "a": 1}', "duplicate key"),
        (ANSWER.replace("tea", "\\udead") + '"x": 1}', "surrogate"),
    )),
    *((f"TREC RAG: {rest[-50:]!r}", answered(CITED + rest), expected) for rest, expected in (
        ('"answer": [{"text": "tea", "citations": 5}]}', "citations 5"),
        ('"answer": [{"text": "tea", "citations": "d3"}]}', "citations 'd3'"),
        ('"answer": [{"text": "tea", "citations": [true]}]}', "citation True"),
        ('"answer": [{"text": "tea", "citations": [-1]}]}', "citation -1"),
        ('"answer": [["tea"]]}', "list of sentences"), ('"answer": {"text": "tea"}}', "list of sentences"),
        ('"metadata": {"narrative_id": [2]}, "topic_id": null, "answer": []}', "duplicate key 'topic_id'"),
        ('"metadata": {"narrative_id": "q7", "topic_id": "q7"}, "answer": [{"text": "a", "citations": [0]}]}', "'q7'"),
        ('"metadata": null, "answer": [{"text": "tea", "citations": [0]}]}', FINE),
        ('"metadata": ["by hand"], "answer": [{"text": "tea", "citations": ["d3"]}]}', FINE),
    )),
    *((f"answers in {name}: {content[:30]!r}", _answers(name, content), expected) for name, content, expected in (
        ("a.csv", "qid,answer,answer\nq1,a,b\n", "duplicate column 'answer'"), ("a.csv", "", "0 answers"),
        ("a.csv", "q1,tea\nq2,rice\n", "key 'qid'"), ("a.csv", 'qid,answer\nq1,"tea\n', "after line"),
        ("a.csv", b"qid,answer\nq1,caf\xe9\n", "expected UTF-8 text"), ("a.tsv", "qid,answer\nq1,tea\n", "key 'qid'"),
        ("a.parquet", "", "an unreadable Parquet file"), ("a.parquet", b"PAR1" * 9, "an unreadable Parquet file"),
        ("a.csv.gz", "qid,answer\nq1,tea\n", "can't be read"), ("a.json", '[\n{"qid": "q1"}\n]', "line 1"),
    )),
    *((f"{path}: {value}", key(path, value), path) for path, value in (
        ("budget.tokens", float("nan")), ("budget.tokens", float("inf")), ("budget.tokens", 0.5),
        ("budget.tokens", "9"), ("budget.gpu_hours", float("nan")), ("budget.gpu_hours", float("inf")), ("budget", []),
        ("run_metadata", "false"), ("run_metadata", 1),
    )),
    *((f"plan: {content[:20]!r}", _plan(content), "a damaged plan") for content in (
        "", "{", "[]", "{}", '{"planned": 1, "of": "x", "needs": null}', b"\xff\xfe", "[" * 100_000)),
    *((f"a path too long: {path}", key(path, "x" * 300 + end), "File name too long") for path, end in (
        ("datasets.small.path", ""), ("cache_dir", ""), ("retrievers.my-run.path", ""), ("generators.lm.model", "/y"),
    )),
    ("a path of answers too long", both(answered(), key("generators.theirs.path", "x" * 300 + ".csv")), "too long"),
    ("a ranking of answers that are not there", both(key("retrievers.mine", {"kind": "answers", "path": "x.csv"}),
                                                     key("grid.retrievers", ["mine"])), "no file x.csv"),
    ("a ranking from another format", both(key("retrievers.mine", {"kind": "answers", "path": "small.run"}),
                                           key("grid.retrievers", ["mine"])), "retrievers.mine.path"),
    *((f"run: {text[:30]!r}", file(RUN, text), expected) for text, expected in (
        ("# told\n#\n", "no result"), ("# told\n\nq1 Q0 d1\n", "line 3: found 3 columns"),
        ("# told\nq1 Q0 d1 1 1_0 t\n", "line 2: found score"), (b"# caf\xe9\nq1 Q0 d1 1 1 t\n", "line 1: found byte"),
        ("#told\nq1 Q0 d1 1 1 t\n", "line 1: found 1 columns"))),
    ("a header of a run", file(RUN, "# ir_metadata.start\n# a: [\n#\n# end\nq1 Q0 d1 1 2 t\nq2 Q0 d3 1 2 t\n"), FINE),
]  # fmt: skip


def _study(old: str, new: str) -> Change:
    """The study's own file, with something else in it."""
    assert old in CONFIG
    return file("my-study.yaml", CONFIG.replace(old, new))


SEEDS, KEYS = "seeds: [1, 2]", "max_tokens: 16"
UNUSUAL: list[Expected] = [
    ("seeds as a time", _study(SEEDS, "seeds: [1:30]"), "my-study.yaml, line 7: found 1:30, which YAML reads as 90"),
    ("k with a leading zero", _study("k: [1, 2]", "k: [1, 010]"), "my-study.yaml, line 6: found 010, which is 8"),
    ("a temperature as a time", _study(KEYS, "temperature: 0:1.5"), "found 0:1.5, which YAML reads as 1.5"),
    ("an octal number of YAML 1.2", _study("k: [1, 2]", "k: [0o2]"), "config key 'grid.k.0': found '0o2'"),
    ("numbers as texts", _study(KEYS, f"{KEYS}, notice: '010'"), FINE),
    ("yes for a retriever", _study("[my-run, rel]", "[yes, rel]"), "config key 'grid.retrievers.0': found True"),
    ("a set of retrievers", _study("[my-run, rel]", "!!set {my-run, rel}"), "config key 'grid.retrievers'"),
    ("a name in bytes", _study("study: mine", "study: !!binary aGk="), "config key 'study': found b'hi'"),
    ("a time for a name", _study("study: mine", "study: 2026-01-01 10:00:00"), "config key 'study'"),
    ("a key without a name", _study("  rel: {kind", "  ~: {kind"), "config key 'retrievers': found None"),
    ("one mark of thought twice", _study(KEYS, "thinking: [x, x]"), 'lm.thinking\': found ["x", "x"]'),
    ("a mark of thought in the other", _study(KEYS, "thinking: [<think>, think>]"), "an end mark that isn't part"),
    ("a model's window that is no number", model_key("max_position_embeddings", float("nan")), "can't be loaded ("),
    ("a vocabulary's size in quotation marks", model_key("vocab_size", "7"), "can't be loaded (StrictDataclass"),
    ("a tokenizer that is a link to itself", lambda _: (
        Path("lm/tokenizer.json").unlink(), Path("lm/tokenizer.json").symlink_to("tokenizer.json")), "no tokenizer"),
    ("gold answers of nulls", file("small/answers.jsonl", '{"qid": "q1", "answers": [null]}\n'), "jsonl, line 1"),
    ("gold answers of nobody", file("small/answers.jsonl", '{"qid": "q9", "answers": ["x"]}\n'), "no answers for any"),
    ("queries in UTF-16", file(QUERIES, "q1\thow\nq2\tx\n".encode("utf-16")), "line 1: found byte"),
    ("blanks that are none in a qrels file", line(QRELS, "q1\u00a00\u00a0d3\u00a03"), "line 5: found 1 columns"),
    ("a run of other passages", file(RUN, "q1 Q0 zz 1 1 t\nq2 Q0 zz 1 1 t\n"), "no docno that has a text"),
]  # fmt: skip
FINE_ONES: list[Expected] = [
    ("a passage of a hundred thousand letters", line(PASSAGES, json.dumps({"doc_id": "d9", "text": LONG})), FINE),
    ("a passage that is a shell command", line(PASSAGES, '{"doc_id": "d9", "text": "$(rm -rf /) `x` {query}"}'), FINE),
    ("markup in a passage", line(PASSAGES, '{"doc_id": "d9", "text": "<script>alert(1)</script>"}'), FINE),
    ("special tokens in a query", line(QUERIES, "q3\t</s><s>[INST] {contexts} {text}"), FINE),
    ("a judgement of a passage that is not there", line(QRELS, "q1 0 gone 2"), FINE),
    ("a negative label", line(QRELS, "q1 0 gone -2"), FINE),
    ("an unknown query in the run", line(RUN, "q9 Q0 d1 1 1.0 t"), FINE),
    ("a score in another notation", line(RUN, "q1 Q0 d3 3 1e-3 t"), FINE),
    ("Windows line ends", lambda _: Path(QRELS).write_bytes(Path(QRELS).read_bytes().replace(b"\n", b"\r\n")), FINE),
    ("an extra key in a passage", line(PASSAGES, '{"doc_id": "d9", "text": "x", "url": {"a": [1]}}'), FINE),
    ("the window that the model has", key("generators.lm.max_model_len", 512), FINE),
    ("a notice in another script", key("generators.lm.notice", "警告 ⚠"), FINE),
    ("an unknown key of the model", model_key("new_key", {"a": [1]}), FINE),
    ("a model's file of another sort", model_file("README.md", b"\xff\xfe"), FINE),
]  # fmt: skip
