"""Predictors by hand: their formulas on numbers small enough to reckon with, and on a real ranking."""

import gzip
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.prediction.predictor import STAGES, Predictor, predictors, valued
from ragrelay.annexes.prediction.predictors.dense_vectors import rank_biased_overlap
from ragrelay.annexes.prediction.study_queries import read_ranking
from ragrelay.annexes.prediction.subject import Answer, Query, Settings, Subject
from ragrelay.annexes.prediction.terms import TermStatistics, Word, count_terms, read_terms, terms
from ragrelay.collection.local import LocalCollection

from tests.unit.conftest import DEMO

SCORES = np.array([9.0, 7.0, 4.0, 2.0])
TEXTS = ["heart blood blood pump", "blood water rain", "tea hill rain", "computer number"]
STATISTICS = TermStatistics(
    10,
    100,
    {"heart": Word(2, 4, 1 + math.log(3) + 1, (1 + math.log(3)) ** 2 + 1), "blood": Word(5, 10, 5.0, 5.0)},
    {("blood", "heart"): 2},
)
VECTORS = {"d1": [1.0, 0.0, 0.5], "d2": [0.0, 1.0, 0.25], "d3": [0.6, 0.8, 1.0], "d4": [0.8, 0.6, 2.0]}
QUESTION = [0.5, 0.25, 0.0]
ZEROSHOT = [Answer(1, "the heart", 2, -1.0, [-0.25, -0.75], [0.5, 1.5], 1.5), Answer(2, "Heart.", 1, -0.5, None, None)]
ANSWERS = [
    Answer(1, "blood is pumped by the heart", 4, -2.0, [-0.5, -0.5, -0.5, -0.5], [1.0, 1.0, 0.0, 0.0], 0.25, 0.5),
    Answer(2, "blood is pumped by a heart", 4, -4.0, [-1.0, -1.0, -1.0, -1.0], [0.0, 0.0, 0.0, 0.0], 2.25, 1.5),
    Answer(3, "no idea", 2, -1.0, [-0.5, -0.5], [2.0, 2.0], None, None),
]
NAMED: dict[str, Predictor] = {one.name: one for one in predictors({})}


def query(**changes: object) -> Query:
    given: dict[str, object] = {
        "qid": "q", "text": "Heart and blood", "statistics": STATISTICS, "docnos": list(VECTORS), "scores": SCORES,
        "texts": TEXTS, "context_scores": SCORES, "zeroshot": ZEROSHOT, "vector": np.array(QUESTION),
        "vectors": {docno: np.array(vector) for docno, vector in VECTORS.items()},
    }  # fmt: skip
    return Query(**(given | changes))  # type: ignore[arg-type]


def made(name: str, k: int = 2, **changes: object) -> float:
    value, reason = valued(NAMED[name], Subject(query(**changes), k, ANSWERS))
    assert value is not None, reason
    return value


def reason(name: str, k: int = 2, **changes: object) -> str | None:
    return valued(NAMED[name], Subject(query(**changes), k, ANSWERS))[1]


HEART, BLOOD = math.log(8.5 / 2.5), math.log(5.5 / 5.5)
UNIT = np.array(list(VECTORS.values())) / np.linalg.norm(list(VECTORS.values()), axis=1)[:, None]
WEIGHTED = UNIT @ UNIT.T @ np.outer(SCORES, SCORES)
BY_HAND: dict[str, float] = {
    "query_length": 2,
    "idf_mean": HEART / 2, "idf_max": HEART, "idf_sum": HEART + BLOOD,
    "ictf_max": math.log(25), "ictf_mean": (math.log(25) + math.log(10)) / 2,
    "scs": 0.5 * math.log2(0.5 * 25) + 0.5 * math.log2(0.5 * 10),
    "scq_max": (1 + math.log(4)) * math.log(6),
    "scq_sum": (1 + math.log(4)) * math.log(6) + (1 + math.log(10)) * math.log(3),
    "var_max": math.log(3) / 2 * math.log(6), "var_mean": math.log(3) / 2 * math.log(6) / 2,
    "pmi_mean": math.log(10 * 2 / (2 * 5)), "pmi_max": math.log(2),
    "max_score": 9, "mean_score": 8, "score_ratio": 9 / 7,
    # Mean 5.5, squares 12.25 + 2.25 + 2.25 + 12.25.
    "nqc": 29 / 4 * HEART, "nqc_shtok": math.sqrt(29 / 4) / 5.5,
    "sigma_max": math.sqrt(29 / 4), "sigma_share": 1.0,
    "wig": (5.5 - 5.5) / math.sqrt(2),
    "smv": sum(s * abs(math.log(s / 5.5)) for s in SCORES) / 4 / 5.5,
    "a_ratio": 1.0 / float((UNIT @ UNIT.T).mean()),
    # Of four results ceil(0.4) = 1 is the top, and int(0.8) = 0 results are left out of the tail.
    "a_pair_ratio": float(WEIGHTED[0, 0] / WEIGHTED.mean()),
    "dense_qpp": -(math.log(1.0) + math.log(1.0) + math.log(0.5)),
    # With the first passage alone the box is 0.5 x 0.25 x 0.5.
    "discounted_matryoshka": 4 * math.log(2) + math.log(2) / math.log2(3),
    "pairwise_cosine": 0.125 / math.sqrt(1.25 * 1.0625),
    "context_length": 7, "redundancy": 1 / 5, "query_words_covered": 1,
    "zeroshot_answer_logprob": -0.5, "zeroshot_agreement": 1, "zeroshot_semantic_entropy": 0,
    "zeroshot_answer_probability": (math.exp(-0.25) + math.exp(-0.75)) / 2,
    "answer_logprob": (-0.5 - 1.0 - 0.5) / 3, "answer_probability": (2 * math.exp(-0.5) + math.exp(-1)) / 3,
    "first_token_logprob": -2 / 3, "first_token_margin": 1.25,
    "zeroshot_first_token_margin": 1.5, "mean_entropy": (0.5 + 0 + 2) / 3,
    "agreement": 1 / 3, "agreement_f1": 1 / 3, "answer_length": 10 / 3,
    "semantic_entropy": -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)),
    "text_change": ((1 - 2 / 6) + (1 - 2 / 6)) / 2, "context_use": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert made(name) == pytest.approx(BY_HAND[name], abs=1e-9)


OF_TERMS = (
    "query_length",
    "idf_mean",
    "nqc",
    "clarity",
    "redundancy",
    "query_words_covered",
    "coleman_liau_index_whole",
)
OF_BLANKS = ("agreement_f1", "semantic_entropy", "text_change")


@pytest.mark.parametrize(
    ("text", "undefined"),
    [
        ("чай делают из листьев за 100 лет", OF_TERMS),
        ("1703年の茶は葉から作られる", (*OF_TERMS, *OF_BLANKS)),
        ("une tasse de thé", ()),
    ],
)
def test_words_that_are_not_read_give_no_value(
    write_dataset: Callable[..., Path], tmp_path: Path, text: str, undefined: tuple[str, ...]
) -> None:
    """Values of the numbers in a text alone would look like values of its words."""
    for name, passages, queries in (("q", TEXTS, [text]), ("p", [text], ["how does the heart pump"])):
        collection = LocalCollection(write_dataset(name, passages={f"d{i}": t for i, t in enumerate(passages)}))
        receipt = count_terms(collection, pl.DataFrame({"query": queries}), tmp_path / "cache")
        assert ("unread" in receipt) == bool(undefined)
        (tmp_path / "receipt.json").write_text(json.dumps(receipt))
        unread = read_terms(tmp_path / "receipt.json", tmp_path / "cache", ()).unread
        statistics = replace(STATISTICS, unread=unread)
        for name in (*OF_TERMS, *OF_BLANKS):
            why = reason(name, statistics=statistics)
            assert ("drops" in str(why) or "blanks" in str(why)) == (name in undefined), (name, why)
        assert reason("max_score", statistics=statistics) is reason("agreement", statistics=statistics) is None


def test_perturbed_queries_move_near_ties_alone() -> None:
    """Noise a tenth as long as the query turns passages round whose scores are near, and no others."""

    def at(*places: tuple[float, float]) -> float:
        vectors = {f"d{number}": np.array(place) for number, place in enumerate(places)}
        return made("dense_perturbation", docnos=list(vectors), vectors=vectors, vector=np.array([1.0, 0.0]))

    apart, near = at((9.0, 0.0), (5.0, 0.1), (1.0, -0.1)), at((5.0, 1.0), (5.001, 0.0), (5.0, -1.0))
    assert apart == 1.0 and 0.5 < near < 0.95
    assert near == at((5.0, 1.0), (5.001, 0.0), (5.0, -1.0)), "the same noise for a query each time"
    assert rank_biased_overlap(np.array([0, 1]), np.array([1, 0])) == pytest.approx(0.9 / 1.9)
    assert reason("dense_perturbation", vector=None) == "no dense retriever in the study"


def test_cutoffs_are_settings() -> None:
    """NQC's variance is of the first `score_depth` scores, and so on: no k of the study's."""
    assert made("nqc", 1, settings=Settings(score_depth=2)) == pytest.approx(HEART)
    assert made("nqc", 1) == made("nqc", 4)
    assert made("wig", settings=Settings(wig_depth=1)) == pytest.approx((9 - 5.5) / math.sqrt(2))
    assert made("sigma_share", settings=Settings(score_share=0.4)) == pytest.approx(np.std([9, 7, 4]))


def test_clarity_by_its_definition() -> None:
    """The relevance model of the passages is computed by loops over all words."""
    lengths = [len(text.split()) for text in TEXTS]
    vocabulary = sorted({word for text in TEXTS for word in terms(text)})
    counts = {"heart": 4, "blood": 10}
    corpus = {word: counts.get(word, 1) / 100 for word in vocabulary}
    inside = [
        {word: 0.6 * terms(text).count(word) / length + 0.4 * corpus[word] for word in vocabulary}
        for text, length in zip(TEXTS, lengths, strict=True)
    ]
    likelihood = [one["heart"] * one["blood"] for one in inside]
    model = {
        word: sum(one[word] * q for one, q in zip(inside, likelihood, strict=True)) / sum(likelihood)
        for word in vocabulary
    }
    total = sum(model.values())
    expected = sum(p / total * math.log2(p / total / corpus[word]) for word, p in model.items())
    assert made("clarity") == pytest.approx(expected)
    again = [sum(p / total * math.log(one[word]) for word, p in model.items()) for one in inside]
    r = float(np.corrcoef(SCORES, again)[0, 1])
    assert made("uef_clarity") == pytest.approx(r * expected)
    bases = [
        "clarity", "max_score", "mean_score", "nqc", "nqc_shtok", "rsd", "score_ratio", "sigma_max", "sigma_share",
        "smv", "wig",
    ]  # fmt: skip
    assert sorted(name for name in NAMED if name.startswith("uef_")) == [f"uef_{base}" for base in bases]
    for base in bases:
        assert [made(f"uef_{base}", k) for k in (1, 3)] == pytest.approx([r * made(base, k) for k in (1, 3)]), base
        assert NAMED[f"uef_{base}"].of_k == NAMED[base].of_k


NOTHING = {"docnos": [], "scores": np.array([]), "texts": [], "context_scores": np.array([])}
REASONS: list[tuple[str, dict[str, object], str]] = [
    ("max_score", NOTHING, "nothing retrieved"),
    ("clarity", NOTHING, "nothing retrieved"),
    ("flesch_reading_ease_mean", NOTHING, "nothing retrieved"),
    ("nqc", {"scores": SCORES[:1]}, "fewer than two results"),
    ("idf_max", {"text": "of the"}, "no word but stopwords in the query"),
    ("pmi_mean", {"text": "heart"}, "fewer than two words in the query"),
    ("pmi_mean", {"text": "heart tea"}, "no passage has two of the query's words"),
    ("smv", {"scores": SCORES - 9}, "a score is not above 0"),
    ("dense_qpp", {"vector": None}, "no dense retriever in the study"),
    ("zeroshot_agreement", {"zeroshot": ZEROSHOT[:1]}, "fewer than two seeds"),
    ("zeroshot_mean_entropy", {"zeroshot": ZEROSHOT[1:]}, "no entropies of tokens"),
    ("zeroshot_first_token_margin", {"zeroshot": ZEROSHOT[1:]}, "no margin of the first token"),
]


@pytest.mark.parametrize(("name", "changes", "expected"), REASONS)
def test_what_is_undefined_says_why(name: str, changes: dict[str, object], expected: str) -> None:
    assert valued(NAMED[name], Subject(query(**changes), 2, ANSWERS)) == (None, expected)


def test_every_predictor_has_a_place_and_a_source() -> None:
    assert len(NAMED) == len(predictors({})) >= 60
    for one in NAMED.values():
        formula, _, source = (type(one).__doc__ or "").partition("\n\n")
        assert one.stage in STAGES and formula.endswith(".") and source.strip().endswith("."), one.name
    needless = [one for one in NAMED.values() if one.stage == STAGES[0] and (one.of_k or one.of_ordering)]
    assert needless == []


def test_words_are_counted_once(tmp_path: Path, write_dataset: Callable[..., Path]) -> None:
    collection = LocalCollection(write_dataset())
    queries = collection.queries()
    receipt = count_terms(collection, queries, tmp_path)
    assert (receipt["passages"], receipt["tokens"]) == (6, sum(len(terms(p["text"])) for p in collection.passages()))
    place = tmp_path / "receipt.json"
    pl.DataFrame([receipt]).write_ndjson(place)
    found = read_terms(place, tmp_path, ["heart", "rain", "nowhere"])
    assert found.words["heart"][:2] == (2, 2) and found.words["rain"][:2] == (2, 2) and "nowhere" not in found.words
    assert found.pairs[("blood", "heart")] == 2
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert count_terms(collection, queries, tmp_path)["path"] == receipt["path"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == stamps


def test_on_the_demos_ranking(tmp_path: Path) -> None:
    """NQC of a TREC run is that of Tian et al.'s code: the variance of 100 scores times the largest IDF."""
    collection = LocalCollection(DEMO)
    queries = collection.queries()
    docnos = [passage["docno"] for passage in collection.passages()]
    run = tmp_path / "it.run.gz"
    scores = np.random.default_rng(0).gamma(2.0, 3.0, (len(queries), 120))
    with gzip.open(run, "wt") as file:
        for qid, row in zip(queries["qid"], scores, strict=True):
            file.writelines(
                f"{qid} Q0 {docno} 1 {score!r} x\n" for docno, score in zip(docnos, row.tolist(), strict=False)
            )
    receipt = tmp_path / "receipt.json"
    pl.DataFrame([count_terms(collection, queries, tmp_path)]).write_ndjson(receipt)
    ranking = read_ranking(run, queries)
    passages = [set(terms(passage["text"])) for passage in collection.passages()]
    for place, (qid, text) in enumerate(queries.select("qid", "query").head(5).iter_rows()):
        statistics = read_terms(receipt, tmp_path, terms(text))
        df = np.array([max(1, sum(word in one for one in passages)) for word in terms(text)])
        expected = np.var(np.sort(scores[place])[::-1][:100]) * np.log((len(passages) - df + 0.5) / (df + 0.5)).max()
        mine = ranking.filter(qid=qid)["score"].to_numpy()
        one = query(text=text, statistics=statistics, scores=mine)
        assert NAMED["nqc"].value(Subject(one, 1)) == pytest.approx(expected, abs=1e-6)
        assert NAMED["max_score"].value(Subject(one, 1)) == scores[place].max()
