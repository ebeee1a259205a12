"""StRecall and alpha_nDCG: published values, pyndeval's, exhaustive search, and the rules of all measures."""

import math
import random
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.measures import COLUMNS, check_measure, measure_ranking
from ragrelay.base.vocabulary.subtopic_measures import (
    MOST_EXACT,
    exact_ideal,
    greedy_ideal,
    ideal_dcg,
    is_subtopic_measure,
    measure_all,
    measure_subtopics,
)

SUBTOPICS = {"qid": pl.String, "docno": pl.String, "subtopic": pl.String, "label": pl.Int64}
PLACE = "config key 'grid.measures'"


def judged(*rows: tuple[str, str, str, int]) -> pl.DataFrame:
    """Rows of qid, docno, subtopic, label."""
    return pl.DataFrame(rows, schema=SUBTOPICS, orient="row")


def ranked(**lists: str) -> pl.DataFrame:
    """Passages by query, separated by blanks."""
    rows = [(qid, docno, rank) for qid, docnos in lists.items() for rank, docno in enumerate(docnos.split(), 1)]
    return pl.DataFrame(rows, schema={"qid": pl.String, "docno": pl.String, "rank": pl.Int64}, orient="row")


def values(ranking: pl.DataFrame, subtopics: pl.DataFrame, name: str, k: int) -> list[float]:
    return measure_subtopics(ranking, subtopics, [name], [k])["value"].to_list()


def by_definition(docnos: tuple[str, ...], covers: dict[str, set[str]], alpha: float) -> float:
    """DCG with a gain of (1 - alpha) ** n per subtopic."""
    seen: dict[str, int] = {}
    total = 0.0
    for rank, docno in enumerate(docnos, 1):
        for subtopic in covers.get(docno, set()):
            total += (1 - alpha) ** seen.get(subtopic, 0) / math.log2(rank + 1)
        for subtopic in covers.get(docno, set()):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return total


def made_up(seed: int, passages: int, share: float = 0.4, queries: int = 4) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rankings and judgements (labels 0 to 2) of 5 subtopics of ``passages`` passages."""
    chance = random.Random(seed)
    rows, lists = [], {}
    for q in range(queries):
        docnos = [f"d{number:02d}" for number in range(passages)]
        for docno in docnos:
            for subtopic in "abcde":
                if chance.random() < share:
                    rows.append((f"q{q}", docno, subtopic, chance.choice([0, 1, 1, 2])))
        docnos += ["unjudged1", "unjudged2"]
        chance.shuffle(docnos)
        lists[f"q{q}"] = " ".join(docnos)
    return ranked(**lists), judged(*rows)


def test_values_in_the_documentation_of_ir_measures() -> None:
    qrels = judged(("q0", "d0", "0", 1), ("q0", "d0", "1", 1), ("q0", "d1", "0", 1))
    for docno, expected in (("d0", 0.8637574337885664), ("d1", 0.4318787168942832)):
        assert values(ranked(q0=docno), qrels, "alpha_nDCG", 10) == [pytest.approx(expected, abs=1e-12)]


def test_values_in_the_readme_of_pyndeval() -> None:
    """Its alpha-DCG is DCG over that of ideal results at every rank: each relevant to all three subtopics."""
    qrels = judged(("0", "A", "a", 1), ("0", "B", "b", 1), ("0", "D", "b", 1), ("0", "C", "c", 1))
    ranking = ranked(**{"0": "A D E B"})
    for k in (5, 10, 20):
        assert values(ranking, qrels, "alpha_nDCG", k) == [pytest.approx(0.7868, abs=1e-4)]
        assert values(ranking, qrels, "StRecall", k) == [pytest.approx(0.6666, abs=1e-4)]
    ours = by_definition(("A", "D", "E", "B"), {"A": {"a"}, "B": {"b"}, "D": {"b"}, "C": {"c"}}, 0.5)
    best = sum(3 * 0.5**rank / math.log2(rank + 2) for rank in range(5))
    assert ours / best == pytest.approx(0.4052, abs=1e-4)
    # ERR-IA: the same gains, each divided by its rank.
    err, most = 1 + 1 / 2 + 0.5 / 4, sum(3 * 0.5**rank / (rank + 1) for rank in range(5))
    assert err / most == pytest.approx(0.3933, abs=1e-4)


OF_PYNDEVAL = {
    ("alpha_nDCG", 3): [0.3575633, 0.9002366, 0.3883578, 0.9161412],
    ("alpha_nDCG", 20): [0.6724322, 0.9582916, 0.7100438, 0.9569158],
    ("alpha_nDCG(alpha=0.7)", 3): [0.3555525, 0.8827699, 0.3863037, 0.8825977],
    ("alpha_nDCG(alpha=0.7)", 20): [0.6487426, 0.950092, 0.6908676, 0.953775],
    ("alpha_nDCG(rel=2)", 3): [0.1735551, 0.6007576, 0.0, 0.4692787],
    ("alpha_nDCG(rel=2)", 20): [0.490319, 0.7885338, 0.3482724, 0.7800994],
    ("StRecall", 3): [0.4, 0.8, 0.4, 0.8],
    ("StRecall(rel=2)", 3): [0.3333333, 0.4, 0.0, 0.25],
}


def test_stored_values_of_pyndeval() -> None:
    """From pyndeval 0.0.8, of a collection on which its ideal, found step by step, is the best."""
    ranking, qrels = made_up(5, 9)
    for (name, k), expected in OF_PYNDEVAL.items():
        assert values(ranking, qrels, name, k) == pytest.approx(expected, abs=1e-6), (name, k)


def test_values_of_pyndeval_where_it_is_installed() -> None:
    """Its values are higher only where its ideal is not the best, and lower never."""
    pyndeval = pytest.importorskip("pyndeval")
    same = 0
    for seed in range(40):
        ranking, qrels = made_up(seed, 3 + seed % 10)
        as_qrels = [pyndeval.SubtopicQrel(qid, subtopic, docno, label) for qid, docno, subtopic, label in qrels.rows()]
        as_run = [pyndeval.ScoredDoc(qid, docno, float(-rank)) for qid, docno, rank in ranking.rows()]
        for level, alpha in ((1, 0.5), (2, 0.3), (1, 1.0)):
            names = {f"alpha_nDCG(alpha={alpha},rel={level})": "alpha-nDCG@{}", f"StRecall(rel={level})": "strec@{}"}
            asked = [name.format(k) for name in names.values() for k in (1, 5, 20)]
            evaluator = pyndeval.RelevanceEvaluator(as_qrels, asked, relevance_level=level, alpha=alpha)
            theirs = evaluator.evaluate(as_run)
            found = measure_subtopics(ranking, qrels, list(names), [1, 5, 20])
            for qid, name, k, value in found.iter_rows():
                other = theirs.get(qid, {}).get(names[name].format(k), 0.0)
                same += value == pytest.approx(other, abs=1e-6)
                assert value <= other + 1e-6 and (value == pytest.approx(other, abs=1e-6) or "alpha" in name)
    assert same > 0.97 * 40 * 3 * 4 * 6


def test_the_ideal_is_that_of_an_exhaustive_search() -> None:
    chance, higher = random.Random(5), 0
    for _ in range(60):
        alpha = chance.choice([0.0, 0.3, 0.5, 1.0])
        covers = {f"d{number}": {s for s in "abcdef" if chance.random() < 0.4} for number in range(6)}
        table = np.array([[float(subtopic in has) for subtopic in "abcdef"] for has in covers.values()])
        best = [max(by_definition(order, covers, alpha) for order in permutations(covers, n)) for n in range(1, 7)]
        assert exact_ideal(table, alpha) == pytest.approx(best, abs=1e-12)
        step_by_step = greedy_ideal(table, alpha, 6)
        assert (step_by_step <= np.array(best) + 1e-12).all()
        higher += bool((step_by_step < np.array(best) - 1e-9).any())
    assert higher, "pools whose ideal is not found step by step"


def test_a_list_that_beats_the_ideal_found_step_by_step_has_1() -> None:
    chance = random.Random(1)
    docnos = [f"d{number:02d}" for number in range(MOST_EXACT + 1)]
    while True:
        covers = {docno: {subtopic for subtopic in "abcdefgh" if chance.random() < 0.3} for docno in docnos}
        table = np.array([[float(subtopic in has) for subtopic in "abcdefgh"] for has in covers.values()])
        by_steps = ideal_dcg(table, 0.5, 3)
        if table.any(axis=1).all() and table.any(axis=0).all() and exact_ideal(table, 0.5)[2] > by_steps[2] + 1e-9:
            break
    best = max(permutations(docnos, 3), key=lambda order: by_definition(order, covers, 0.5))
    assert by_definition(best, covers, 0.5) > by_steps[2] + 1e-9
    rows = [("q", docno, subtopic, 1) for docno, has in covers.items() for subtopic in has]
    assert values(ranked(q=" ".join(best)), judged(*rows), "alpha_nDCG", 3) == [1.0]


@pytest.mark.parametrize("passages", [8, 30])
def test_the_order_of_rows_decides_nothing(passages: int) -> None:
    ranking, qrels = made_up(2, passages)
    names = ["alpha_nDCG", "StRecall"]
    expected = measure_subtopics(ranking, qrels, names, [3, 10])
    shuffled = qrels.sample(fraction=1.0, shuffle=True, seed=4)
    assert measure_subtopics(ranking, shuffled, names, [3, 10]).equals(expected)


def test_of_equal_gains_the_first_docno_comes_first() -> None:
    """The first two are equal; had the second come first, the third would have gained 2."""
    table = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]], float)
    gains = np.array([2, 1.5, 1.5]) / np.log2([2, 3, 4])
    assert greedy_ideal(table, 0.5, 9) == pytest.approx(np.cumsum(gains), abs=1e-12)
    assert exact_ideal(table, 0.5)[1] == pytest.approx(2 + 2 / np.log2(3), abs=1e-12)


def test_several_levels_and_alphas_at_once_are_those_of_single_calls() -> None:
    ranking, qrels = made_up(7, 20)
    names = ["alpha_nDCG", "alpha_nDCG(alpha=0.9)", "alpha_nDCG(rel=2)", "StRecall", "StRecall(rel=2)"]
    found = measure_subtopics(ranking, qrels, names, [2, 5, 22])
    alone = pl.concat([measure_subtopics(ranking, qrels, [name], [k]) for name in names for k in (2, 5, 22)])
    assert found.equals(alone) and dict(found.schema) == schema_of(COLUMNS)
    means = found.filter(k=2).group_by("measure").agg(pl.col("value").mean())
    assert means["value"].n_unique() == len(names) and means["value"].min() > 0
    relevant = measure_subtopics(ranking, qrels, ["alpha_nDCG", "StRecall"], [5], relevant=2)["value"]
    assert relevant.to_list() == found.filter(pl.col("measure").str.contains("rel=2"), k=5)["value"].to_list()


def test_cutoffs_above_20() -> None:
    qrels = judged(*(("q", f"d{number}", f"s{number}", 1) for number in range(40)))
    ranking = ranked(q=" ".join(f"d{number}" for number in range(30)))
    assert values(ranking, qrels, "StRecall", 25) == [25 / 40] and values(ranking, qrels, "alpha_nDCG", 25) == [1.0]
    assert values(ranking, qrels, "StRecall", 50) == [30 / 40]


def test_queries_without_results_or_relevant_passages_have_0() -> None:
    """As with other measures; a query without judgements of subtopics has no row."""
    qrels = judged(("q1", "a", "s", 1), ("none", "a", "s", 0), ("junk", "a", "s", -2), ("empty", "a", "s", 1))
    ranking = ranked(q1="a", none="a", junk="a", unknown="a")
    found = measure_subtopics(ranking, qrels, ["StRecall", "alpha_nDCG"], [1], qids=["empty", "q1", "unknown"])
    expected = {"q1": 1.0, "none": 0.0, "junk": 0.0, "empty": 0.0}
    for name in ("StRecall", "alpha_nDCG"):
        assert dict(found.filter(measure=name).select("qid", "value").iter_rows()) == expected
    assert "empty" not in measure_subtopics(ranking, qrels, ["StRecall"], [1])["qid"].to_list()


def test_beside_measures_of_judged_passages() -> None:
    ranking, subtopics = made_up(6, 10)
    qrels = subtopics.group_by("qid", "docno", maintain_order=True).agg(pl.col("label").max())
    names = ["StRecall", "P", "alpha_nDCG", "nDCG"]
    found = measure_all(ranking, qrels, subtopics, names, [2, 5], (2, 1))
    assert found["measure"].unique(maintain_order=True).to_list() == names
    others = measure_ranking(ranking, qrels, ["P", "nDCG"], [2, 5], 2)
    assert found.filter(pl.col("measure").is_in(["P", "nDCG"])).equals(others)
    assert found.filter(measure="StRecall").equals(measure_subtopics(ranking, subtopics, ["StRecall"], [2, 5]))
    assert measure_all(ranking, qrels, None, ["P", "nDCG"], [2, 5], (2, 1)).equals(others)


def test_names() -> None:
    for name in ("StRecall", "StRecall(rel=2)", "alpha_nDCG", "alpha_nDCG(alpha=0.7)", "α_nDCG(alpha=0.0, rel=3)"):
        check_measure(PLACE, name)
        assert is_subtopic_measure(name)
    assert not any(map(is_subtopic_measure, ("nDCG", "P(rel=2)", "ERR")))


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "StRecall(rel=0)": "rel of at least 1",
        "alpha_nDCG(alpha=1.5)": "alpha from 0 to 1",
        "alpha_nDCG(alpha='high')": "a measure in ir_measures",
        "alpha_nDCG(judged_only=True)": "complete rankings",
        "StRecall@5": "a cutoff",
        "ERR_IA": "StRecall, alpha_nDCG, or a measure of judged passages",
    }.items(),
)
def test_what_is_refused(name: str, expected: str) -> None:
    with pytest.raises(InputError) as error:
        check_measure(PLACE, name)
    message = str(error.value)
    assert message.startswith(PLACE) and name in message and expected in message and "\n" not in message
