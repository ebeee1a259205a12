"""Labels of every kind of annotation source, and eRAG's own from kept answers."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.labels.erag_labels import label_passages
from ragrelay.annexes.labels.single_answers import read_single_passages, view_single_answers
from ragrelay.annexes.labels.source import SourceData
from ragrelay.annexes.labels.sources.containment import Containment
from ragrelay.annexes.labels.study_labels import Sources
from ragrelay.base.errors import InputError
from ragrelay.generation.store import SCHEMA as ANSWER
from ragrelay.generation.store import THOUGHT, AnswerStore
from ragrelay.prompting.layout import build_single_prompts, kshot_prompts
from ragrelay.prompting.templates import Template

TEMPLATE = Template("Q: {query}", "{contexts}Q: {query}", "{i}. {text}\n")
QUERIES = pl.DataFrame({"qid": ["1", "2"], "query": ["who", "what"]})
TEXTS = {"x": "the red fox", "y": "a grey goose", "z": "one red hen"}
CONTEXTS = pl.DataFrame(
    [("1", 1, "x"), ("1", 2, "y"), ("2", 1, "z")], schema={"qid": pl.String, "rank": pl.Int64, "docno": pl.String},
    orient="row",
).with_columns(text=pl.col("docno").replace_strict(TEXTS))  # fmt: skip
REFERENCES = ["lenient", "lenient-unseen"]


def labels(names: list[str], catalogue: dict[str, Any], made: dict[str, pl.DataFrame] | None = None) -> dict:
    qrels = pl.DataFrame({"qid": ["1", "2"], "docno": ["x", "z"], "label": [2, 4]})
    passages = CONTEXTS.select("qid", "docno", "text")
    given = SourceData(passages, dict(QUERIES.iter_rows()), qrels, {"1": ["Fox", "cow"]}, REFERENCES)
    found = Sources(given, catalogue, made or {}).labels(names).filter(references="lenient")
    return {(source, qid, docno): label for source, _, qid, docno, label in found.iter_rows()}


ERAG = pl.DataFrame(
    {"references": ["lenient"] * 3, "qid": ["1", "1", "2"], "docno": ["x", "y", "z"], "label": [0.9, 0.2, 0.5]}
)


def test_qrels_have_grades_and_0_for_the_unjudged() -> None:
    found = labels(["qrels"], {"qrels": {"kind": "qrels"}})
    assert found == {("qrels", "1", "x"): 2.0, ("qrels", "1", "y"): 0.0, ("qrels", "2", "z"): 4.0}


def test_containment_knows_queries_with_gold_answers_alone() -> None:
    found = labels(["c"], {"c": {"kind": "containment"}})
    assert found == {("c", "1", "x"): 1.0, ("c", "1", "y"): 0.0}


def test_containment_refuses_gold_answers_without_blanks_between_words() -> None:
    given = SourceData(CONTEXTS.select("qid", "docno", "text"), {}, pl.DataFrame(), {"1": ["茶の葉"]}, REFERENCES)
    with pytest.raises(InputError, match="annotation source of kind containment: found gold answers with 100%"):
        Containment().labels(given)


@pytest.mark.parametrize(("combine", "x"), [("mean", 0.7), ("product", 0.45), ("min", 0.5), ("max", 0.9)])
def test_combinations_scale_the_grades(combine: str, x: float) -> None:
    catalogue = {
        "qrels": {"kind": "qrels"},
        "erag": {"kind": "erag"},
        "both": {"kind": "combination", "sources": ["qrels", "erag"], "combine": combine},
    }
    assert labels(["both"], catalogue, {"erag": ERAG})["both", "1", "x"] == pytest.approx(x)


def test_thresholds_and_labels_of_another_scorer() -> None:
    gold = ERAG.with_columns(references=pl.lit("gold"))
    catalogue = {"erag": {"kind": "erag", "threshold": 0.5}}
    expected = {("erag", "1", "x"): 1.0, ("erag", "1", "y"): 0.0, ("erag", "2", "z"): 1.0}
    assert labels(["erag"], catalogue, {"erag": ERAG}) == expected
    assert labels(["erag"], catalogue, {"erag": gold}) == expected, "its only reference set serves all of P's"


def test_a_passage_alone_has_the_prompt_of_a_k_1_cell() -> None:
    single = build_single_prompts(QUERIES, CONTEXTS, TEMPLATE, 2)
    cell = kshot_prompts(QUERIES, CONTEXTS, TEMPLATE, "descending", 1)
    assert single.filter(rank=1)["prompt_id"].to_list() == cell["prompt_id"].to_list()
    assert single.select("qid", "rank").rows() == [("1", 1), ("2", 1), ("1", 2)]
    assert single.filter(rank=2)["docnos"].to_list() == [["y"]]


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Answers with two seeds to the passages of CONTEXTS; the answer repeats the passage, and once is empty."""
    for name in ("one", "two"):
        build_single_prompts(QUERIES, CONTEXTS, TEMPLATE, 2).write_parquet(tmp_path / f"{name}.parquet")
    passages = read_single_passages([tmp_path / "one.parquet", tmp_path / "two.parquet"])
    assert passages.height == 3
    store = AnswerStore(tmp_path, "f")
    filled = {"finish_reason": "stop", "prompt_tokens": 1, "cached_tokens": 0, "answer_tokens": 1, "logprob": 0.0,
              "dropped_passages": 0, "token_logprobs": [], "token_entropies": None,
              "first_token_margin": None}  # fmt: skip
    rows = [
        {"prompt_id": key, "seed": seed, "answer": "" if docno == "y" and seed == 2 else TEXTS[docno], **filled}
        for _, docno, key in passages.iter_rows()
        for seed in (1, 2)
    ]
    assert set(ANSWER) == {*rows[0], *THOUGHT}
    store.append(rows[:-1], {})
    with pytest.raises(InputError, match="no answers to 1 of 6 prompts with one passage"):
        view_single_answers(passages, [1, 2], store)
    store.append(rows[-1:], {})
    path = tmp_path / "answers.parquet"
    view_single_answers(passages, [1, 2], store).write_parquet(path)
    return path


def test_labels_are_the_best_overlap_averaged_over_seeds(answered: Path, tmp_path: Path) -> None:
    references = pl.DataFrame(
        {"qid": ["1", "1", "2"], "docno": ["x", "r", "z"], "label": [2, 3, 2],
         "text": [TEXTS["x"], "the grey goose", TEXTS["z"]]}
    )  # fmt: skip
    references.write_parquet(tmp_path / "references.parquet")
    scorer = {"kind": "rouge", "variant": "rouge1", "stemmer": False, "references": "judged", "aggregate": "max"}
    table = label_passages(answered, tmp_path / "references.parquet", {"lenient": 2, "strict": 3}, scorer, tmp_path)
    found = {(references, qid, docno): label for references, qid, docno, label, *_ in table.iter_rows()}
    # 2 of 3 words of "a grey goose" stand in r, and its second answer is empty.
    assert found["lenient", "1", "x"] == 1.0 and found["lenient", "1", "y"] == pytest.approx(1 / 3)
    assert found["lenient-unseen", "1", "x"] == pytest.approx(1 / 3), "x itself is no reference there"
    assert found["lenient-unseen", "1", "y"] == pytest.approx(1 / 3)
    assert found["strict", "1", "x"] == pytest.approx(1 / 3)
    assert ("lenient-unseen", "2", "z") not in found, "its only reference is the passage itself"
    assert set(table["n_seeds"]) == {2} and table["n_below_0"].sum() == 0

    # y's text is r's: what its answers are compared with leaves r out, as if y were r.
    twin = pl.DataFrame({"qid": ["1", "1"], "docno": ["x", "y"], "text": [TEXTS["x"], "The grey goose!"]})
    twin.write_parquet(tmp_path / "contexts.parquet")
    near = {"contexts": [tmp_path / "contexts.parquet"], "near_copy": 0.5}
    table = label_passages(
        answered, tmp_path / "references.parquet", {"lenient": 2, "strict": 3}, scorer, tmp_path, **near
    )
    found = {(references, qid, docno): label for references, qid, docno, label, *_ in table.iter_rows()}
    assert ("strict-unseen", "1", "y") not in found and found["strict-unseen", "1", "x"] == pytest.approx(1 / 3)


def test_scores_above_1_are_no_labels(answered: Path, tmp_path: Path) -> None:
    references = {"qid": ["1"], "docno": ["x"], "label": [2], "text": [TEXTS["x"]]}
    pl.DataFrame(references).write_parquet(tmp_path / "references.parquet")
    with pytest.raises(InputError, match="scorer of kind length: found 3 for an answer to query 1; expected scores"):
        label_passages(answered, tmp_path / "references.parquet", {"lenient": 2}, {"kind": "length"}, tmp_path)
