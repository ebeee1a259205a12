"""Answers judged by the demo's model: its probabilities are those of transformers; what is asked, and the scores."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import CITED_SENTENCES
from ragrelay.base.vocabulary.names import UNSCORED
from ragrelay.questions.judging.judge_requests import Judging, asked_about, judging
from ragrelay.questions.judging.templates import JudgeTemplate, load_judge_template
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeScorer
from ragrelay.scoring.near_copies import PassageTexts
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.scoring.sentences import cited_sentences

from tests.support.asking import asked as ask
from tests.support.asking import read
from tests.support.sandbox import MODEL, ROOT

pytestmark = pytest.mark.engine

TEXTS = {"x": "tea is a plant", "y": "iron is a metal", "z": "tea has leaves"}
CELL = ("descending", 1, 1)
WINDOW = {"model": MODEL, "max_model_len": 512}


def scorer_of(**keys: Any) -> JudgeScorer:
    found = SCORER_KINDS.of(SCORER_KINDS.completed({"generator": "judge", **keys}))
    assert isinstance(found, JudgeScorer)
    return found


def judge_template(scorer: JudgeScorer) -> JudgeTemplate:
    return load_judge_template(ROOT / f"config/judge_prompts/{scorer.prompt}.yaml", scorer.placeholders())


class Judged:
    """Two queries, of which the first has references x (3) and z (2); x is its context, and y that of the second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        frames = {
            "queries": {"qid": ["1", "2"], "query": ["what is tea", "what is iron"]},
            "references": {"qid": ["1", "1"], "docno": ["x", "z"], "label": [3, 2], "text": [TEXTS["x"], TEXTS["z"]]},
            "contexts": {"qid": ["1", "2"], "docno": ["x", "y"], "text": [TEXTS["x"], TEXTS["y"]]},
            "prompts": {"qid": ["1", "2"], "docnos": [["x"], ["y"]], "prompt_id": ["a", "b"]},
            "answers": self.answers(["tea is a plant. iron is a metal.", ""], ["a", "b"]),
            "zeroshot": self.answers(["tea", "iron"], ["c", "d"]),
        }
        for name, columns in frames.items():
            pl.DataFrame(columns).write_parquet(folder / name)

    @staticmethod
    def answers(texts: list[str], prompts: list[str]) -> dict[str, list[Any]]:
        return {"qid": ["1", "2"], "prompt_id": prompts, "seed": [1, 1], "answer": texts}

    def by(self, scorer: JudgeScorer, grades: dict[str, int]) -> Judging:
        paths = self.folder / "queries", [self.folder / "references"]
        return judging(scorer, judge_template(scorer), *paths, (), scorer.sets(grades), None)

    def job(self, scorer: JudgeScorer, retriever: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
        """Files and settings of the job; where ``retriever`` is given, as those of one of several."""
        part = f"{retriever}/" if retriever else ""
        paths = {"answers": f"{part}descending/k1/seed1", "prompts": f"{part}descending/k1",
                 "zeroshot": "none/k0/seed1", "contexts": f"{retriever or 'one'}.parquet"}  # fmt: skip
        for name, path in paths.items():
            target = self.folder / f"cells/{name}/{path}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((self.folder / name).read_bytes())
        files = {name: [self.folder / f"cells/{name}/{path}"] for name, path in paths.items()}
        judged = scorer.references == "judged"
        given = {"queries": self.folder / "queries", "references": [self.folder / "references"] if judged else []}
        keyed, by = "{retriever}/" if retriever else "", self.by(scorer, {"all": 2, "best": 3})
        patterns = {
            "answers": f"answers/{keyed}{{ordering}}/k{{k}}/seed{{seed}}",
            "zeroshot": "zeroshot/{ordering}/k{k}/seed{seed}",
            "prompts": f"prompts/{keyed}{{ordering}}/k{{k}}",
            "contexts": "contexts/{retriever}.parquet",
        }
        return {**files, **given, "zeroshot": files["zeroshot"] if judged and not retriever else []}, {
            "scorer": {"kind": type(scorer).__module__.rpartition(".")[2], **scorer.model_dump()},
            "template": asdict(by.template), "grades": by.grades, "near_copy": None, "patterns": patterns,
        }  # fmt: skip

    def run(self, scorer: JudgeScorer, generator: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any], pl.DataFrame]:
        """What was asked, the receipt and the score table."""
        files, settings = self.job(scorer)
        asked, receipt = ask("judge_answers", files, settings, {**generator, **WINDOW}, self.folder)
        assert asked is not None
        asked.write_parquet(self.folder / "asked")
        made = read("judge_answers", {"asked": self.folder / "asked"}, settings, receipt, self.folder)
        self.unscored = made["left_out"]
        self.masses = made["asked"]["mass"]
        assert made["asked"].drop("mass").equals(asked)
        return asked, receipt, pl.DataFrame(made["scores"])


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return Judged(tmp_path)


def share_and_mass(prompt: str, tokens: dict[str, list[int]]) -> tuple[float, float]:
    """Compute the share of yes, and the probability of yes or no, by transformers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    with torch.no_grad():
        model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
        p = model(torch.tensor([tokenizer(prompt)["input_ids"]])).logits[0, -1].softmax(-1)
    yes, no = (float(p[tokens[word]].sum()) for word in ("yes", "no"))
    return yes / (yes + no), yes + no


def test_every_set_of_references_is_asked_about(judged: Judged, generator: dict[str, Any]) -> None:
    """The zero-shot answer's unseen ones are too; scores equal transformers' to 1e-4, and a second run makes none."""
    scorer = scorer_of(kind="llm_judge")
    asked, receipt, scores = judged.run(scorer, generator)
    keys = asked.select("ordering", "k", "references", "n_references", "n_near_copies").rows()
    assert keys == [
        ("descending", 1, "all", 2, None), ("descending", 1, "all-unseen", 1, 0), ("descending", 1, "best", 1, None),
        ("none", 1, "all-unseen", 1, 0),
    ]  # fmt: skip
    assert set(asked["qid"]) == {"1"}, "the other query has no reference"
    template = load_judge_template(ROOT / "config/judge_prompts/answer_yes_no.yaml", scorer.placeholders())
    answer = "tea is a plant. iron is a metal."
    shown = [(answer, ["x", "z"]), (answer, ["z"]), (answer, ["x"]), ("tea", ["z"])]
    for value, mass, (text, docnos) in zip(scores["f1"], judged.masses, shown, strict=True):
        references = [TEXTS[docno] for docno in docnos]
        prompt = template.render({"query": "what is tea", "answer": text, "references": references})
        assert (value, mass) == pytest.approx(share_and_mass(prompt, receipt["tokens"]), abs=1e-4)
    little = judged.unscored[1]
    assert little["of"] == {"judge": "judge", "questions": 4, "mean_mass": round(sum(judged.masses) / 4, 4)}
    assert little["count"] == sum(mass < 0.5 for mass in judged.masses)
    assert (receipt["answers"], judged.unscored[0]["count"]) == (1, 0), "the zero-shot answer is another job's"
    _, again, same = judged.run(scorer, generator)
    assert (again["made"], again["cached"]) == (0, receipt["made"]) and same.equals(scores)


def test_sentences_against_their_own_context(judged: Judged, generator: dict[str, Any]) -> None:
    asked, receipt, scores = judged.run(scorer_of(kind="faithfulness"), generator)
    assert asked.select("qid", "references", "n_references", "number").rows() == [
        ("1", "context", 1, 0), ("1", "context", 1, 1), ("2", "context", 1, None),
    ]  # fmt: skip
    assert scores["f1"].is_null().to_list() == [False, True] and receipt["unasked"] == 1
    assert judged.unscored[0] == {"what": UNSCORED, "count": 1} and receipt["answers"] == 2
    template = load_judge_template(ROOT / "config/judge_prompts/faithfulness.yaml", {"passages", "sentence"})
    sides = ("tea is a plant.", "iron is a metal.")
    prompts = [template.render({"passages": [TEXTS["x"]], "sentence": side}) for side in sides]
    expected = sum(share_and_mass(prompt, receipt["tokens"])[0] for prompt in prompts) / 2
    assert scores["f1"][0] == pytest.approx(expected, abs=1e-4)


def test_a_question_that_does_not_fit_is_refused_before_the_engine(judged: Judged, generator: dict[str, Any]) -> None:
    definition = {**generator, "model": MODEL, "max_model_len": 16}
    with pytest.raises(InputError, match="tokens; expected fewer than the window's 16"):
        ask("judge_answers", *judged.job(scorer_of(kind="llm_judge")), definition, judged.folder)


def measured(scorer: JudgeScorer, rows: list[tuple[str | None, list[float] | None]]) -> dict[str, float | None]:
    frame = pl.DataFrame(rows, schema={"item": pl.String, "shares": pl.List(pl.Float64)}, orient="row")
    return frame.group_by(pl.lit(1)).agg(*scorer.measured()).drop("literal").to_dicts()[0]


def test_scores_from_shares() -> None:
    nothing: list[tuple[str | None, list[float] | None]] = [(None, None)]
    assert measured(scorer_of(kind="llm_judge"), [("", [0.7, 0.3])]) == {"f1": 0.7}
    assert measured(scorer_of(kind="llm_judge"), nothing) == {"f1": 0.0}
    grades = scorer_of(kind="llm_judge", scale="grades", references="none")
    assert measured(grades, [("", [0.0, 0.5, 0.25, 0.25])]) == {"f1": pytest.approx((0.5 + 0.5 + 0.75) / 3)}
    assert grades.prompt == "answer_grades_alone" and grades.placeholders() == {"query", "answer"}
    assert measured(scorer_of(kind="faithfulness"), nothing) == {"f1": None}
    cites = scorer_of(kind="support")
    rows = [("cited", [0.5, 0.5, 0.0]), ("cited", None), ("uncited", None)]
    precision, recall = 0.75 / 2, 0.75 / 3
    f1 = 2 * precision * recall / (precision + recall)
    assert measured(cites, rows) == pytest.approx({"precision": precision, "recall": recall, "f1": f1})
    assert measured(cites, [("uncited", None)]) == {"precision": None, "recall": 0.0, "f1": 0.0}
    assert measured(cites, nothing) == {"precision": None, "recall": None, "f1": None}


def test_citations() -> None:
    """They stand before or after the full stop, several in one bracket; one of no passage is not asked about."""
    found = cited_sentences("Tea is a plant [2]. It grows [4]. [1, 3] Iron does not [1][9].")
    assert found == [("Tea is a plant.", (2,)), ("It grows.", (4, 1, 3)), ("Iron does not.", (1, 9))]
    assert cited_sentences("[1] Tea. ") == [("Tea.", (1,))] and cited_sentences(" [1]") == []
    one = JudgeCase("1", "q", "Tea is a plant [2]. Iron [9]. So.", passages=["a", "b"])
    asked = scorer_of(kind="support").questions(one)
    assert [(question.item, (question.texts or {}).get("passages")) for question in asked] == [
        ("cited", ["b"]), ("cited", None), ("uncited", None),
    ]  # fmt: skip
    both = scorer_of(kind="support", citations="all")
    assert both.questions(JudgeCase("1", "q", "Tea [1, 2].", passages=["a", "b"]))[0].texts == {
        "passages": ["a", "b"], "sentence": "Tea.",
    }  # fmt: skip


def test_a_judge_reads_the_processed_texts(judged: Judged) -> None:
    """Faithfulness asks with the text that the context of this k shows, not with the passage's own."""
    shown = [[{"k": 1, "text": "tea"}, {"k": 2, "text": "is a plant"}], [{"k": 2, "text": "iron"}]]
    dtype = pl.List(pl.Struct({"k": pl.Int64, "text": pl.String}))
    contexts = pl.read_parquet(judged.folder / "contexts").with_columns(pl.Series("shown", shown, dtype=dtype))
    contexts.write_parquet(judged.folder / "contexts")
    by = judged.by(scorer_of(kind="faithfulness"), {})
    answers = pl.DataFrame(
        {"qid": ["1", "2"], "ordering": ["descending"] * 2, "k": [1, 1], "seed": [1, 1], "answer": ["tea is.", "iron."],
         "cited_sentences": pl.Series([None, None], dtype=CITED_SENTENCES.dtype)}
    )  # fmt: skip
    docnos = {("descending", 1): {"1": ["x"], "2": []}}
    asked, prompts = asked_about(answers, docnos, PassageTexts([judged.folder / "contexts"]), set(), by)
    one = prompts.filter(prompt_id=asked.filter(qid="1")["prompt_id"].item())["prompt"].item()
    assert "tea" in one and TEXTS["x"] not in one
    assert asked.filter(qid="2")["prompt_id"].to_list() in ([], [None]), "no question about an emptied context"
