"""Processors of contexts: what each makes of passages, what is refused, and what is kept and made again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.display.terminal import tell_warnings
from ragrelay.base.errors import InputError
from ragrelay.base.io.coverage import data_warnings
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.prompting.layout import kshot_prompts
from ragrelay.prompting.templates import Template
from ragrelay.retrieval.contexts import SKIPPED_COLUMNS, context_warnings, count_left_out, shown_texts
from ragrelay.retrieval.processed_store import SCHEMA, ProcessedStore
from ragrelay.retrieval.processing import process_contexts
from ragrelay.retrieval.processor import PROCESSOR_KINDS, Passage
from ragrelay.retrieval.processors.nearest_sentences import chosen

HEART = "The heart pumps blood. Tea grows on hills. Its valves open and close."
RAIN = "Rain falls on hills. Blood is pumped by the heart through the body."
PASSAGES = [Passage("d1", HEART), Passage("d2", RAIN)]
QUERY = "how does the heart pump blood"
MODULE = """
import itertools, json
count = itertools.count()

def second(query, passages, every=2):
    return [(docno, " ".join((text.split(". ")[1::every]))) for docno, text in passages]

def first_word(query, passages):
    return {docno: text.split()[0] for docno, text in passages}

def shorter_with_more(query, passages):
    return [(docno, " ".join(text.split()[: 6 // len(passages)])) for docno, text in passages]

def stranger(query, passages):
    return [("d9", "text")]

def twice(query, passages):
    return [(passages[0].docno, "one"), (passages[0].docno, "two")]

def number(query, passages):
    return [(passages[0].docno, 1)]

def nothing(query, passages):
    return []

def no_pairs(query, passages):
    return None

def whole(query, passages):
    return passages

def counted(query, passages):
    return [(docno, f"text {next(count)}") for docno, text in passages]

def other_order(query, passages):
    return passages[:: -1 if next(count) % 2 else 1]

def stops(query, passages):
    if query == "third":
        raise RuntimeError("stopped")
    return passages

def backwards(query, passages):
    return passages[::-1]

def ends(query, passages):
    return [*passages[::2], *passages[1::2][::-1]]

def ends_of_three(query, passages):
    return ends(query, passages) if len(passages) == 3 else passages

def random_at_three(query, passages):
    return [(docno, f"text {next(count)}") for docno, text in passages] if len(passages) == 3 else passages

def as_set(query, passages):
    return set(passages)

def parses(query, passages):
    for docno, text in passages:
        yield docno, json.loads("{") if query == "third" else text

def rerank():
    import pyterrier as pt
    return pt.apply.doc_score(lambda row: -row["score"])

def rows_alone():
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.iloc[::-1])

def scores_alone():
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.assign(score=-rows["score"]))

def ranks_alone():
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.assign(rank=-rows["rank"]))

def without_ranks():
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.iloc[::-1][["docno", "text"]])

def fails():
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.assign(text=rows["txt"]))

def cut(words=2):
    import pyterrier as pt
    return pt.apply.generic(lambda rows: rows.assign(text=rows["text"].str.split().str[:words].str.join(" ")))

def no_transformer():
    return 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a module of functions."""
    (tmp_path / "shortening.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "shortening", raising=False)
    return tmp_path


Run = Callable[..., tuple[pl.DataFrame, dict[str, Any]]]


@pytest.fixture
def run(own: Path) -> Run:
    """A function that processes the contexts of three queries with a function of the module."""

    def run(function: str, ks: tuple[int, ...] = (1, 2), **keys: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
        definition = {"kind": "python", "function": f"shortening:{function}", "code": {"function": "1"}, **keys}
        return process_contexts(QUERIES, contexts(), ks, definition, own / "cache", "processor of retriever short")

    return run


QUERIES = pl.DataFrame({"qid": ["q1", "q2", "q3"], "query": [QUERY, "second", "third"]})


def contexts() -> pl.DataFrame:
    rows = [
        (qid, rank, docno, 3.0 - rank, None, text)
        for qid in QUERIES["qid"]
        for rank, (docno, text) in enumerate([*PASSAGES, Passage("d3", "One. Two.")], 1)
    ]
    names = {"qid": pl.String, "rank": pl.Int64, "docno": pl.String, "score": pl.Float64, "label": pl.Int64,
             "text": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=names, orient="row")


def shown(table: pl.DataFrame, k: int, qid: str = "q1") -> list[tuple[str, str]]:
    return list(shown_texts(table, k).filter(qid=qid).sort("rank").select("docno", "text").iter_rows())


def test_every_k_is_processed_for_itself_and_the_passages_own_texts_stay(run: Run) -> None:
    table, receipt = run("shorter_with_more")
    assert table.drop("shown").equals(contexts())
    assert shown(table, 1) == [("d1", "The heart pumps blood. Tea grows")]
    assert shown(table, 2) == [("d1", "The heart pumps"), ("d2", "Rain falls on")]
    assert (receipt["asked"], receipt["cached"], receipt["made"]) == (6, 0, 6) and receipt["same_again"] is True
    again, receipt = run("shorter_with_more")
    assert again.equals(table) and (receipt["cached"], receipt["made"]) == (6, 0) and receipt["same_again"] is True
    deeper, receipt = run("shorter_with_more", (1, 2, 3))
    assert receipt["made"] == 3 and shown(deeper, 2) == shown(table, 2) and len(shown(deeper, 3)) == 3


def test_one_passage_at_a_time_is_processed_once_for_all_k(run: Run) -> None:
    table, receipt = run("first_word", (1, 2, 3), one_at_a_time=True)
    assert receipt["asked"] == 9 and shown(table, 3) == [("d1", "The"), ("d2", "Rain"), ("d3", "One.")]


def test_a_changed_key_or_file_is_another_processor(run: Run) -> None:
    first = run("second")[1]["fingerprint"]
    assert run("second", options={"every": 3})[1]["fingerprint"] != first
    assert run("second", code={"function": "2"})[1]["fingerprint"] != first
    assert run("second")[1]["made"] == 0


def test_emptied_passages_are_not_shown(run: Run) -> None:
    table, _ = run("nothing")
    assert shown(table, 2) == [] and table["shown"].list.len().sum() == 0
    blank, _ = run("second", (3,))
    assert [docno for docno, _ in shown(blank, 3)] == ["d1", "d2", "d3"]
    assert shown(run("whole")[0], 2) == [tuple(passage) for passage in PASSAGES]


@pytest.mark.parametrize(
    ("function", "found"),
    [
        ("stranger", "docno 'd9' for query 'how does the heart pump blood'"),
        ("twice", "duplicate docno 'd1'"),
        ("number", "a int as the text of docno 'd1'"),
        ("no_pairs", "the return value None"),
        ("as_set", "a set as return value, which has no order"),
    ],
)
def test_what_is_no_text_of_a_given_passage_is_refused(run: Run, function: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        run(function)
    assert found in str(error.value) and "expected" in str(error.value)
    assert "short" in str(error.value), "names the function or the retriever"


@pytest.mark.parametrize(
    ("function", "keys"), [("counted", {}), ("counted", {"one_at_a_time": True}), ("other_order", {})]
)
def test_texts_that_come_out_otherwise_are_marked(
    run: Run, function: str, keys: dict[str, Any], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The job's terminal says so in one line, also if a later job finds the texts in the cache."""
    run("whole")
    assert not capsys.readouterr().err
    assert run(function, **keys)[1]["same_again"] is False
    differed = "a sample of contexts (texts or their order) differed when it was processed again"
    warning = f"processor of retriever short: {differed}; another cache would give other prompts"
    assert capsys.readouterr().err.splitlines() == [f"ragrelay: warning: {warning}"]
    assert [record.getMessage() for record in caplog.records] == [warning]
    again, once_more = (run(function, **keys)[1] | {"seconds": 0.0} for _ in range(2))
    assert again == once_more and again["same_again"] is False, "and kept"
    assert len(capsys.readouterr().err.splitlines()) == 2


def layout(table: pl.DataFrame, ordering: str, k: int, qid: str = "q1") -> list[str]:
    """The docnos of a query's prompt, whose texts have the same order."""
    template = Template(zeroshot="{query}", kshot="{contexts}{query}", context="{text}")
    prompts = kshot_prompts(QUERIES, table, template, ordering, k).filter(qid=qid)
    [docnos] = prompts["docnos"].to_list()
    at = [prompts["prompt"][0].index(text) for docno in docnos for text in table.filter(docno=docno)["text"].head(1)]
    assert at == sorted(at)
    return list(docnos)


def test_orderings_lay_out_the_returned_order_and_ranks_stay(run: Run) -> None:
    table, receipt = run("ends", (1, 2, 3))
    assert layout(table, "descending", 3) == ["d1", "d3", "d2"] and layout(table, "descending", 2) == ["d1", "d2"]
    assert layout(table, "ascending", 3) == ["d2", "d3", "d1"] and layout(table, "permutation_231", 3)[0] == "d3"
    assert table["docno"].to_list() == ["d1", "d3", "d2"] * 3, "as the largest context shows them"
    assert table.drop("shown", "places").sort("qid", "rank").equals(contexts()), "ranks, scores, texts stay"
    again, receipt = run("ends", (1, 2, 3))
    assert again.equals(table) and receipt["made"] == 0 and receipt["same_again"] is True
    assert layout(run("backwards")[0], "descending", 2) == ["d2", "d1"]
    assert "places" not in run("whole")[0].columns, "the same bytes as without an order"


def test_the_next_processor_gets_the_returned_order(run: Run, own: Path) -> None:
    turned, _ = run("backwards", (2, 3))
    for function, alone, expected in (("backwards", False, ["d1", "d2", "d3"]), ("whole", True, ["d3", "d2", "d1"])):
        definition = {"kind": "python", "function": f"shortening:{function}", "code": {"function": "1"}}
        definition["one_at_a_time"] = alone
        table, _ = process_contexts(QUERIES, turned, (2, 3), definition, own / "cache", "")
        assert layout(table, "descending", 3) == expected


def unordered(folder: Path, fingerprint: str) -> None:
    """Write a store's rows as earlier versions did: in the ranking's order, in a part that does not say so."""
    store = ProcessedStore(folder / "cache", fingerprint)
    [part] = store.parts()
    rows = [
        (key, *map(list, zip(*sorted(zip(docnos, texts, strict=True)), strict=True)))
        for key, docnos, texts in pl.read_parquet(part).iter_rows()
    ]
    part.unlink()
    store.add(pl.DataFrame(rows, schema=SCHEMA, orient="row"), {"same_again": "true"})


@pytest.mark.parametrize(("function", "made"), [("whole", 0), ("backwards", 6), ("ends_of_three", 6)])
def test_contexts_kept_without_their_order_serve_where_it_was_right(
    run: Run, own: Path, function: str, made: int
) -> None:
    table, receipt = run(function, (1, 2, 3))
    unordered(own, receipt["fingerprint"])
    again, receipt = run(function, (1, 2, 3))
    assert again.equals(table) and receipt["made"] == made, "of one text each, contexts have one order"
    assert run(function, (1, 2, 3))[1]["made"] == 0, "and only once"


def test_a_processor_of_single_passages_is_not_asked_for_its_order(run: Run, own: Path) -> None:
    _, receipt = run("first_word", (1, 2), one_at_a_time=True)
    unordered(own, receipt["fingerprint"])
    (own / "shortening.py").unlink()
    assert run("first_word", (1, 2), one_at_a_time=True)[1]["made"] == 0


def test_the_sample_made_twice_is_of_all_k(own: Path) -> None:
    queries = pl.DataFrame({"qid": [f"q{n}" for n in range(30)], "query": [f"query {n}" for n in range(30)]})
    many = pl.concat([contexts().filter(qid="q1").with_columns(qid=pl.lit(qid)) for qid in queries["qid"]])
    definition = {"kind": "python", "function": "shortening:random_at_three", "code": {"function": "1"}}
    for ks, same in (((1, 2), True), ((1, 2, 3), False)):
        _, receipt = process_contexts(queries, many, ks, definition, own / f"cache{len(ks)}", "")
        assert receipt["same_again"] is same and receipt["made"] == 30 * len(ks)


def test_a_function_that_raises_is_named_with_its_line_and_the_query(run: Run, own: Path) -> None:
    line = next(n for n, text in enumerate(MODULE.splitlines(), 1) if "json.loads" in text)
    with pytest.raises(InputError) as error:
        run("parses", (1,))
    said = str(error.value)
    assert "found JSONDecodeError: Expecting property name" in said, "raised in a library"
    assert f" in {own}/shortening.py, line {line}, for query 'third'; expected docnos with texts" in said


def test_what_was_made_before_an_error_is_kept(run: Run, own: Path) -> None:
    with pytest.raises(InputError, match="RuntimeError: stopped"):
        run("stops", (1,))
    definition = {"kind": "python", "function": "shortening:stops", "code": {"function": "1"}}
    two = process_contexts(QUERIES.head(2), contexts().filter(pl.col("qid") != "q3"), (1,), definition, "cache", "")
    assert two[1]["made"] == 0 and two[1]["cached"] == 2
    assert ProcessedStore(own / "cache", two[1]["fingerprint"]).parts()


def test_a_cache_that_is_only_read_serves_and_refuses_the_rest(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("second", (1,))
    monkeypatch.setenv("RAGRELAY_CACHE_MODE", "read-only")
    assert run("second", (1,))[1]["made"] == 0
    with pytest.raises(InputError, match="3 of 6 contexts are not in"):
        run("second", (1, 2))


def test_the_processor_of_a_processed_retriever_gets_the_texts_shown(run: Run, own: Path) -> None:
    halved, _ = run("second")
    definition = {"kind": "python", "function": "shortening:first_word", "code": {"function": "1"}}
    table, _ = process_contexts(QUERIES, halved, (1, 2), definition, own / "cache", "")
    assert shown(table, 2) == [("d1", "Tea"), ("d2", "Blood")]


def test_a_transformer_of_pyterrier(own: Path) -> None:
    pytest.importorskip("pyterrier")
    definition = {"kind": "pyterrier", "pipeline": "shortening:cut", "options": {"words": 3}, "code": {"pipeline": "1"}}
    table, _ = process_contexts(QUERIES, contexts(), (2,), definition, own / "cache", "")
    assert shown(table, 2) == [("d1", "The heart pumps"), ("d2", "Rain falls on")]
    with pytest.raises(InputError, match="return value of type int"):
        process_contexts(
            QUERIES,
            contexts(),
            (1,),
            definition | {"pipeline": "shortening:no_transformer", "options": {}},
            "cache",
            "",
        )


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("rerank", ["d2", "d1"]),
        ("ranks_alone", ["d2", "d1"]),
        ("without_ranks", ["d2", "d1"]),
        ("rows_alone", "rows whose order differs from the ranks for query"),
        ("scores_alone", "scores whose order differs from the ranks for query"),
        ("fails", "KeyError: 'txt' in"),
    ],
)
def test_the_ranks_of_a_transformer_s_results_are_their_order(
    own: Path, pipeline: str, expected: list[str] | str
) -> None:
    pytest.importorskip("pyterrier")
    definition = {"kind": "pyterrier", "pipeline": f"shortening:{pipeline}", "code": {"pipeline": "1"}}
    if isinstance(expected, list):
        table, _ = process_contexts(QUERIES, contexts(), (1, 2), definition, own / "cache", "")
        assert layout(table, "descending", 2) == expected
    else:
        with pytest.raises(InputError, match=expected):
            process_contexts(QUERIES, contexts(), (1, 2), definition, own / "cache", "")


def test_sentences_are_chosen_from_the_nearest_down_as_far_as_they_fit() -> None:
    assert chosen([0.1, 0.9, 0.5, 0.7], [2, 4, 1, 3], 5) == [False, True, True, False], (
        "one that does not fit is skipped"
    )
    assert chosen([0.5, 0.5, 0.5], [1, 1, 1], 2) == [True, True, False], "ties: the earlier first"
    assert chosen([0.5], [6], 5) == [False] and chosen([], [], 5) == []


def test_the_nearest_sentences_by_the_packaged_encoder() -> None:
    kept = {}
    for tokens in (8, 16, 1000):
        processor = PROCESSOR_KINDS.of({"kind": "nearest_sentences", "tokens": tokens})
        kept[tokens] = dict(processor.start(1)(QUERY, PASSAGES))
    assert kept[8] == {"d1": "The heart pumps blood.", "d2": "pumped by the"}, "a sentence over the budget is cut"
    assert kept[16] == {"d1": "The heart pumps blood.", "d2": "Blood is pumped by the heart through the body."}
    assert kept[1000] == dict(PASSAGES), "in their order"


CHINESE = "灯塔建于一八九一年。守塔人的名字叫林。夏天有许多游客来这里看日落。"
HINDI = "घर नदी के पास है। घर में मीरा रहती है। सर्दियों में ठंड पड़ती है।"
TRANSCRIPT = " and ".join(["so we came to the house", "the walls are made of stone", "mister brown lives there"] * 6)


@pytest.mark.parametrize("text", [CHINESE, HINDI, TRANSCRIPT])
def test_no_passage_is_emptied_for_want_of_full_stops(text: str) -> None:
    """Sentences of other scripts are kept whole; a text without full stops is cut, between words if it has blanks."""
    process = PROCESSOR_KINDS.of({"kind": "nearest_sentences", "tokens": 24}).start(1)
    found = dict(process("who lives in the house", [Passage("d1", text), Passage("d2", text)]))
    assert found.keys() == {"d1", "d2"}
    for shown in found.values():
        assert 0 < len(shown) < len(text)
        ends = "。", "।"
        assert shown.endswith(ends) or not text.endswith(ends)
        assert text is not TRANSCRIPT or set(shown.split()) <= set(text.split())
    whole = PROCESSOR_KINDS.of({"kind": "nearest_sentences", "tokens": 999}).start(1)("", [Passage("d", text)])
    assert whole == [("d", text)], "no blank is put between sentences"


def test_emptied_contexts_and_passages_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """At k = 1 one of two is left, which is not most; at k = 2 one of four passages."""
    kept = [{"k": 1, "text": "tea"}, {"k": 2, "text": "tea"}]
    contexts = pl.DataFrame(
        {
            "qid": ["q1", "q1", "q2", "q2"],
            "rank": [1, 2, 1, 2],
            "docno": ["a", "b", "c", "d"],
            "label": [1, 1, 1, 1],
            "text": ["tea"] * 4,
            "shown": pl.Series([kept, [], [], []], dtype=pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))),
        }
    )
    skipped = pl.DataFrame({"qid": [], "docno": [], "before": []}, schema=schema_of(SKIPPED_COLUMNS))
    queries = pl.DataFrame({"qid": ["q1", "q2"]})
    counts = count_left_out(contexts, skipped, queries, [1, 2])
    found = {row["what"]: (row["count"], "warning" in row) for row in counts if "emptied" in row["what"]}
    tell_warnings("bm25", counts)
    assert "passages emptied by the processor at k = 2: 3 of 4; prompts" in capsys.readouterr().err
    [said] = data_warnings([{"dataset": "d", "detail": row.get("of"), **row} for row in counts])
    assert said.startswith("d: passages emptied by the processor at k = 2: 3 of 4; prompts")
    assert found == {
        "contexts emptied by the processor at k = 1": (1, False),
        "passages emptied by the processor at k = 1": (1, False),
        "contexts emptied by the processor at k = 2": (1, False),
        "passages emptied by the processor at k = 2": (3, True),
    }
    assert not any("emptied" in row["what"] for row in count_left_out(contexts.drop("shown"), skipped, queries, [1, 2]))


def processed(shown: list[list[int]]) -> pl.DataFrame:
    """Contexts of a query with one passage each, of which a processor leaves text at these k."""
    rows = [{"qid": f"q{place}", "rank": 1, "docno": "d", "label": 1, "text": "tea",
             "shown": [{"k": k, "text": "tea"} for k in ks]} for place, ks in enumerate(shown)]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"shown": pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))})


@pytest.mark.parametrize("empty", ["zero", "left_out", None])
@pytest.mark.parametrize(
    ("shown", "emptied"),
    [
        ([[]] + [[1, 3]] * 59, "1 of 60 contexts at k = 3"),
        ([[]] * 2 + [[1, 3]] * 19, "2 of 21 contexts at k = 3"),
        ([[3]] * 14 + [[1, 3]] * 86, "14 of 100 contexts at k = 1"),
        ([[1]] * 3 + [[1, 3]] * 17, "3 of 20 contexts at k = 3"),
        ([[]] * 3, "3 of 3 contexts at k = 3"),
    ],
)
def test_more_than_a_twentieth_of_the_contexts_emptied(shown: Any, emptied: str, empty: str | None) -> None:
    """The k with the most is named. Also of retrievers that may leave queries out: the processor left these empty.

    Every query has fewer passages than k, which counts with them unless queries may be left out.
    """
    contexts, queries = processed(shown), pl.DataFrame({"qid": [f"q{place}" for place in range(len(shown) + 1)]})
    skipped = pl.DataFrame(schema=schema_of(SKIPPED_COLUMNS))
    added = context_warnings(contexts, skipped, queries, [3, 1], "s/contexts/x", empty)
    found = {what: row["sentence"] for what, row in added.items() if "emptied" in row["sentence"]}
    assert list(found.values()) == ([] if emptied.startswith("1 of 60") and empty is None else [
        f"the processor emptied {emptied} (s/contexts/x.parquet); their prompts are those without context, so P = P0 "
        "there"
    ])  # fmt: skip
    assert set(found) <= {row["what"] for row in count_left_out(contexts, skipped, queries, [3, 1])}


def test_budget_and_encoder_decide_the_fingerprint(tmp_path: Path) -> None:
    keys = [
        PROCESSOR_KINDS.of({"kind": "nearest_sentences", "tokens": tokens}).decisive(tmp_path) for tokens in (8, 8, 9)
    ]
    assert keys[0] == keys[1] != keys[2] and str(keys[0]["model"]).startswith("folder:")
