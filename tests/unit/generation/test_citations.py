"""Citations of TREC RAG's answers: kept in the answer files, and judged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import CITED_SENTENCES, schema_of
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile
from ragrelay.collection.local import LocalCollection
from ragrelay.generation.answer_files import COLUMNS, read_cited_sentences
from ragrelay.generation.imported.cell_files import read_answers, write_cells
from ragrelay.generation.imported.imported_answers import Places, placed
from ragrelay.generation.store import THOUGHT
from ragrelay.questions.judging.judge_requests import Judging, asked_about
from ragrelay.retrieval.contexts import COLUMNS as PASSAGES
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.scoring.retriever_table import SCORE_COLUMNS
from ragrelay.scoring.sentences import numbered_citations

from tests.unit.questions.test_judged_answers import judge_template, scorer_of

TEXTS = {"d1": "tea is a plant", "d2": "iron is a metal", "d3": "tea has leaves"}
RECORDS: list[dict[str, Any]] = [
    {
        "run_id": "mine", "topic_id": "q1", "topic": "what is tea", "references": ["d3", "d2", "d1"],
        "answer": [
            {"text": "Tea is a plant.", "citations": [2, 0]},
            {"text": "It is made of iron [7].", "citations": [0]},
            {"text": "It is old.", "citations": []},
            {"text": " \u2013 ", "citations": [2]},
        ],
    },
    {
        "metadata": {"run_id": "mine", "narrative_id": "q2"}, "references": ["d2"],
        "answer": [{"text": "Iron is a metal.", "citations": ["d2"]}],
    },
    {"run_id": "mine", "topic_id": "q3", "references": ["d1"], "answer": [{"text": "Why [1].", "citations": []}]},
]  # fmt: skip
FIRST = [
    {"text": "Tea is a plant.", "citations": ["d1", "d3"]},
    {"text": "It is made of iron [7].", "citations": ["d3"]},
    {"text": "It is old.", "citations": []},
    {"text": " \u2013 ", "citations": ["d1"]},
]
KEPT = [FIRST, [{"text": "Iron is a metal.", "citations": ["d2"]}], None]
CELL = ("descending", 3, 1)
PLACES = Places(["mine"], ["descending"], [3], [1])


def rows_of(folder: Path, *records: Any, name: str = "theirs.jsonl") -> pl.DataFrame:
    path = folder / name
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return read_answer_rows([AnswerFile(path, {"k": 3})])


def cells_of(folder: Path, rows: pl.DataFrame, cited: bool) -> tuple[Path, Path]:
    """The answers and contexts that are written from ``rows``."""
    folder.mkdir(exist_ok=True)
    answers, prompts = folder / "answers.parquet", folder / "prompts.parquet"
    run = pl.DataFrame({"qid": ["q3"], "docno": ["d2"], "rank": [1]})
    write_cells(placed(rows, PLACES), ["q1", "q2", "q3"], run, {CELL[:2]: prompts}, {CELL: answers}, cited)
    return answers, prompts


@pytest.fixture
def cells(tmp_path: Path) -> tuple[Path, Path]:
    return cells_of(tmp_path / "cells", rows_of(tmp_path, *RECORDS), cited=True)


def test_sentences_and_their_passages_are_kept(tmp_path: Path, cells: tuple[Path, Path]) -> None:
    rows = rows_of(tmp_path, *RECORDS)
    assert rows["cited_sentences"].to_list() == KEPT
    assert rows["docnos"].to_list() == [["d3", "d1"], ["d2"], None], "in the order of the references"
    table = pl.read_parquet(cells[0])
    assert (
        table.columns == [name for name in COLUMNS if name not in THOUGHT]
        and table["cited_sentences"].to_list() == KEPT
    )
    without = pl.read_parquet(cells_of(tmp_path / "without", rows, cited=False)[0])
    assert without.columns == list(schema_of(COLUMNS)) and without.equals(table.drop("cited_sentences"))
    assert read_cited_sentences(cells[0])["cited_sentences"].to_list() == KEPT
    assert read_cited_sentences(tmp_path / "without/answers.parquet")["cited_sentences"].to_list() == [None] * 3


def test_all_files_of_a_generator_have_the_column(tmp_path: Path, write_dataset: Callable[..., Path]) -> None:
    """Zero-shot answers without a citation have it too, as they are read together with the others."""
    collection, prompts = LocalCollection(write_dataset()), {("none", 0): tmp_path / "none.parquet"}
    cited, bare = {"text": "Tea.", "citations": [0]}, {"text": "Tea.", "citations": []}
    common = {"topic_id": "q1", "references": ["d3"]}
    queries = tmp_path / "queries.parquet"
    collection.queries().write_parquet(queries)
    for sentence, dtype in ((cited, CITED_SENTENCES.dtype), (bare, None)):
        path = tmp_path / "theirs.jsonl"
        lines = [{**common, "run_id": "mine", "answer": [sentence]}, {**common, "run_id": "zeroshot", "answer": [bare]}]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
        brought = {"files": [(str(path), {})], "places": PLACES._replace(k=3)._asdict()}
        zeroshot, own = tmp_path / "zeroshot.parquet", tmp_path / "own.parquet"
        read_answers(brought, {"generator": "g"}, collection, queries, prompts, {("none", 0, 1): zeroshot})
        run = pl.DataFrame(schema=schema_of(PASSAGES))
        run.write_parquet(tmp_path / "run.parquet")
        collection.qrels().write_parquet(tmp_path / "qrels.parquet")
        found = tmp_path / "run.parquet", tmp_path / "qrels.parquet", tmp_path / "passages.parquet"
        contexts, names = {CELL[:2]: tmp_path / "p.parquet"}, {"generator": "g", "retriever": "mine"}
        read_answers(brought, names, collection, queries, contexts, {CELL: own}, found)
        assert pl.read_parquet_schema(zeroshot) == pl.read_parquet_schema(own)
        assert pl.read_parquet_schema(own).get("cited_sentences") == dtype


def test_support_judges_a_sentence_by_the_passage_that_it_cites(tmp_path: Path, cells: tuple[Path, Path]) -> None:
    """The scores are those by hand, where full, partial and none count 1, .5 and 0."""
    contexts = [(q, d, TEXTS[d]) for q, d in (("q1", "d3"), ("q1", "d1"), ("q2", "d2"), ("q3", "d2"))]
    pl.DataFrame(contexts, schema=["qid", "docno", "text"], orient="row").write_parquet(tmp_path / "passages")
    shown = {CELL[:2]: dict(pl.read_parquet(cells[1]).select("qid", "docnos").iter_rows())}
    scorer = scorer_of(kind="support")
    by = Judging(scorer, judge_template(scorer), {"q1": "what is tea", "q2": "iron", "q3": "why"}, None, {},
                 scorer.sets({"all": 2}), None)  # fmt: skip
    of_cell = {"ordering": pl.lit("descending"), "k": pl.lit(3, pl.Int64), "seed": pl.lit(1, pl.Int64)}
    answers = pl.read_parquet(cells[0]).with_columns(**of_cell)
    asked, questions = asked_about(answers, shown, PassageTexts([tmp_path / "passages"]), set(), by)
    prompt_of = dict(questions.select("prompt_id", "prompt").iter_rows())
    found = [
        (qid, item, prompt_of.get(name)) for qid, item, name in asked.select("qid", "item", "prompt_id").iter_rows()
    ]
    render = by.template.render
    assert found == [
        ("q1", "cited", render({"passages": [TEXTS["d1"]], "sentence": "Tea is a plant."})),
        ("q1", "cited", render({"passages": [TEXTS["d3"]], "sentence": "It is made of iron."})),
        ("q1", "uncited", None),
        ("q2", "cited", render({"passages": [TEXTS["d2"]], "sentence": "Iron is a metal."})),
        ("q3", "cited", render({"passages": [TEXTS["d2"]], "sentence": "Why."})),
    ], "a sentence without a word is none; the text's own number counts where the file has no citation"
    shares = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], None, [1.0, 0.0, 0.0], [0.25, 0.5, 0.25]]
    table = asked.with_columns(shares=pl.Series(shares, dtype=pl.List(pl.Float64)))
    scores = table.group_by("qid", maintain_order=True).agg(*scorer.measured())
    precision, recall = (0.75 + 0.125) / 2, (0.75 + 0.125) / 3
    assert scores.row(0)[1:] == pytest.approx((precision, recall, 2 * precision * recall / (precision + recall)))
    assert scores.rows()[1:] == [("q2", 1.0, 1.0, 1.0), ("q3", 0.5, 0.5, 0.5)]
    assert set(scores.columns) <= set(SCORE_COLUMNS)


def test_a_second_citation_and_one_outside_the_context() -> None:
    given = [{"text": "One.", "citations": ["d1", "d3", "d1"]}, {"text": "Two", "citations": ["d9"]}]
    assert numbered_citations(given, ["d3", "d1"]) == [("One.", (2, 1)), ("Two", (0,))]
    assert numbered_citations(None, ["d1"]) is None


PLAIN = {"qid": "q1", "answer": "Tea. So.", "retriever": "mine"}


@pytest.mark.parametrize("given", ["list", "text"])
def test_plain_answers_with_citations(tmp_path: Path, given: str) -> None:
    """In a table of texts they are JSON; the passages are those cited where the line doesn't say."""
    cited = [{"text": "Tea.", "citations": ["d3", "d1"]}, {"text": "So.", "citations": []}]
    row = rows_of(tmp_path, {**PLAIN, "cited_sentences": cited if given == "list" else json.dumps(cited)}).row(
        0, named=True
    )
    assert row["cited_sentences"] == cited and row["docnos"] == ["d3", "d1"]
    none = rows_of(tmp_path, {**PLAIN, "cited_sentences": None}, {**PLAIN, "cited_sentences": ""})
    assert none["cited_sentences"].null_count() == 2 and none["docnos"].null_count() == 2


@pytest.mark.parametrize(
    ("cited", "docnos", "message"),
    [
        ([{"text": "Tea.", "citations": []}], None, "found cited_sentences that don't add up to the answer"),
        (
            [{"text": "Tea. So.", "citations": [1]}],
            None,
            "found cited_sentences [{'text': 'Tea. So.', 'citations': [1]}]",
        ),
        ([{"text": "Tea. So."}], None, 'expected [{"text": ..., "citations": ["passage id", ...]}]'),
        ([{"text": "Tea. So.", "citations": ["d2"]}], ["d1"], "found citation 'd2'; expected one of the answer's"),
        ([{"text": "Tea. So.", "citations": ["d 2"]}], None, "a docno without whitespace"),
        ("[[", None, "found cited_sentences '[['"),
        (7, None, "found cited_sentences 7"),
    ],
)
def test_bad_citations_are_named(tmp_path: Path, cited: Any, docnos: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        rows_of(tmp_path, {**PLAIN, "docnos": docnos, "cited_sentences": cited})
    assert f"{tmp_path}/theirs.jsonl, line 1" in str(error.value) and message in str(error.value)
