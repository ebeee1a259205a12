"""A judge that grades: its probabilities are those of transformers, whatever it is asked; labels, gains, measures."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.measures import How, measure_labels
from ragrelay.annexes.labels.questions.judge_passages import passage_questions
from ragrelay.annexes.labels.source import ANNOTATION_KINDS, SourceData
from ragrelay.annexes.labels.study_labels import LabelledFiles, LabelMeasures
from ragrelay.annexes.labels.study_labels import measure_labels as labels_and_values
from ragrelay.generation.likelihoods.continuations import with_continuation
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.likelihoods.word_questions import with_words
from ragrelay.prompting.layout import build_single_prompts
from ragrelay.prompting.templates import load_template
from ragrelay.questions.question import QuestionJob

from tests.support.asking import asked as ask
from tests.support.asking import read
from tests.support.sandbox import MODEL, ROOT

pytestmark = pytest.mark.engine

PREFIX = "The grade is "
QUERIES = pl.DataFrame({"qid": ["1", "2"], "query": ["what is tea", "what is iron"]})
CONTEXTS = pl.DataFrame(
    {"qid": ["1", "1", "2"], "rank": [1, 2, 1], "docno": ["x", "y", "z"],
     "text": ["tea is a plant", "iron is a metal", "STOP"]}
)  # fmt: skip
GRADED = ANNOTATION_KINDS.of({"kind": "graded_llm"})


@pytest.fixture
def prompts(tmp_path: Path) -> list[Path]:
    template = load_template(ROOT / "config/prompts/grades.yaml")
    build_single_prompts(QUERIES, CONTEXTS, template, 2).write_parquet(tmp_path / "prompts.parquet")
    return [tmp_path / "prompts.parquet"]


def by_transformers(prompt: str, ids: list[list[int]]) -> list[float]:
    """Shares of four sets of single tokens in their probability together, after ``prompt`` and PREFIX."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    given = tokenizer(prompt)["input_ids"] + tokenizer(PREFIX, add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        loaded = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
        p = loaded(torch.tensor([given])).logits[0, -1].softmax(-1)
    sums = [float(p[one].sum()) for one in ids]
    return [one / sum(sums) for one in sums]


def labels(prompts: list[Path], receipt: dict[str, Any], cache: Path) -> pl.DataFrame:
    table: pl.DataFrame = read(
        "judge_passages", {"prompts": prompts}, {"source": {"kind": "graded_llm"}}, receipt, cache
    )["labels"]
    return table


def test_every_passage_gets_a_grade_from_the_probabilities_of_four_digits(
    generator: dict[str, Any], prompts: list[Path], tmp_path: Path
) -> None:
    definition = {**generator, "model": MODEL, "max_model_len": 256}
    settings = {"words": GRADED.words(), "begins": PREFIX}  # type: ignore[attr-defined]
    _, receipt = ask("judge_passages", {"prompts": prompts}, settings, definition, tmp_path)
    tokens = sum(map(len, receipt["tokens"].values()))
    assert receipt["words"] == ["0", "1", "2", "3"] and receipt["made"] == 3 * tokens
    found = labels(prompts, receipt, tmp_path)
    assert found.select("qid", "docno").rows() == [("1", "x"), ("2", "z"), ("1", "y")]
    asked = pl.read_parquet(prompts[0])
    ids = [receipt["tokens"][word] for word in receipt["words"]]
    for prompt, label, gain in zip(asked["prompt"], found["label"], found["gain"], strict=True):
        shares = by_transformers(prompt, ids)
        assert label == shares.index(max(shares))
        assert gain == pytest.approx(sum(grade * share for grade, share in enumerate(shares)), abs=1e-4)
    assert found["mass"].null_count() == 3, "the probability of the forced beginning itself is unknown"
    _, again = ask("judge_passages", {"prompts": prompts}, settings, definition, tmp_path)
    assert (again["made"], again["cached"]) == (0, receipt["made"])


def test_shares_of_tiny_probabilities(prompts: list[Path], tmp_path: Path) -> None:
    """Words of one and two tokens keep their shares where their probabilities are 0 as floats."""
    tokens = {"0": [1], "1": [2, 3], "2": [4], "3": [5]}
    logprobs = {1: -2000.0, 2: -2000.0 + math.log(0.5), 3: -2000.0 + math.log(1.5), 4: -2000.0, 5: -9999.0}
    store = LikelihoodStore(tmp_path, "f")
    questions = passage_questions(QuestionJob({"prompts": list(map(str, prompts))}, {}, {}))
    asked = with_continuation(with_words(questions, tokens, [7]))
    assert asked["token_ids"][0].to_list() == [7, 1]
    rows = [{"prompt_id": row["prompt_id"], "continuation": row["continuation"], "tokens": 2,
             "logprob": logprobs[row["token_ids"][-1]]} for row in asked.to_dicts()]  # fmt: skip
    store.append(rows, {})
    receipt = {"words": list(tokens), "tokens": tokens, "begins": [7], "fingerprint": "f"}
    found = labels(prompts, receipt, tmp_path)
    assert found["label"].to_list() == [1.0] * 3
    assert found["gain"].to_list() == pytest.approx([(0 + 1 * 2 + 2 * 1) / 4] * 3)


def test_ndcg_counts_gains_and_other_measures_grades() -> None:
    ranking = pl.DataFrame({"qid": ["1"] * 3, "docno": ["a", "b", "c"], "rank": [1, 2, 3]})
    labels = pl.DataFrame({"qid": ["1"] * 3, "docno": ["a", "b", "c"], "label": [1.0, 3.0, 2.0]})
    gains = labels.select("qid", "docno", gain=pl.Series([1.2, 2.6, 1.9]))
    values = measure_labels(ranking, labels, ["P", "nDCG"], [2], How(True, 2.0, gains=gains))
    dcg, ideal = 1.2 + 2.6 / math.log2(3), 2.6 + 1.9 / math.log2(3)
    assert dict(values.select("measure", "value").iter_rows()) == {"P": 0.5, "nDCG": pytest.approx(dcg / ideal)}
    alone = measure_labels(ranking, labels, ["nDCG"], [2], How(True, 2.0, gains=gains))
    assert alone["value"].to_list() == pytest.approx([dcg / ideal])


def given(table: pl.DataFrame) -> SourceData:
    passages = CONTEXTS.select("qid", "docno", "text")
    qrels = pl.DataFrame({"qid": ["1"], "docno": ["x"], "label": [2]})
    return SourceData(passages, dict(QUERIES.iter_rows()), qrels, {}, ["lenient"], made=table)


def test_labels_from_a_file(tmp_path: Path) -> None:
    """Only its queries have labels; in rankings a missing or negative one is 0, in agreement a missing one is none."""
    source = ANNOTATION_KINDS.of({"kind": "file", "path": "p"})
    table = pl.DataFrame({"references": [None, None], "qid": ["1", "1"], "docno": ["x", "w"], "label": [3, -1]},
                         schema_overrides={"references": pl.String})  # fmt: skip
    assert source.labels(given(table)).rows() == [("lenient", "1", "x", 3), ("lenient", "1", "y", 0)]
    assert source.highest(given(table)) == 3.0
    table.write_parquet(tmp_path / "table")
    assert source.known_pairs(pl.DataFrame(), tmp_path / "table").rows() == [("1", "x"), ("1", "w")]
    assert ANNOTATION_KINDS.of({"kind": "qrels"}).known_pairs(given(table).qrels, None)["docno"].to_list() == ["x"]


@pytest.mark.parametrize(("definition", "counted"), [
    ({"kind": "file", "path": "p"}, 2.0), ({"kind": "file", "path": "p", "relevant": 1}, 1.0),
    ({"kind": "graded_llm"}, 2.0), ({"kind": "qrels"}, 2.0), ({"kind": "erag"}, 1.0),
])  # fmt: skip
def test_the_lowest_grade_that_counts(definition: dict[str, Any], counted: float) -> None:
    assert ANNOTATION_KINDS.of(definition).counted_from(2) == counted


def test_a_study_of_both(tmp_path: Path) -> None:
    for name, frame in {
        "contexts": CONTEXTS, "queries": QUERIES, "qrels": given(pl.DataFrame()).qrels,
        "people": pl.DataFrame({"references": pl.Series([None], dtype=pl.String), "qid": "1", "docno": "y",
                                "label": 1}),
        "judge": CONTEXTS.select(references=pl.lit(None, pl.String), qid="qid", docno="docno",
                                 label=pl.Series([1.0, 2.0, 3.0]), gain=pl.Series([0.9, 2.1, 2.5])),
    }.items():  # fmt: skip
        frame.write_parquet(tmp_path / name)
    catalogue = {"people": {"kind": "file", "path": "p", "relevant": 1}, "judge": {"kind": "graded_llm"},
                 "both": {"kind": "combination", "sources": ["people", "judge"], "combine": "mean"}}  # fmt: skip
    labels, values = labels_and_values(
        LabelledFiles({"bm25": tmp_path / "contexts"}, tmp_path / "queries", tmp_path / "qrels",
                      {name: tmp_path / name for name in ("people", "judge")}),
        catalogue, list(catalogue), ["lenient"], LabelMeasures(["P"], [2], 2, 2),
    )  # fmt: skip
    assert labels.filter(source="both", docno="y")["label"].to_list() == [pytest.approx((1 / 1 + 2 / 3) / 2)]
    found = {(source, qid): value for source, qid, value in values.select("source", "qid", "value").iter_rows()}
    assert found["people", "1"] == 0.5 and ("people", "2") not in found
    assert found["judge", "1"] == 0.5 and found["judge", "2"] == 0.5
