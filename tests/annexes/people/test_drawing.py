"""Answers that are drawn for people to score: as many of each cell, of the same queries; and how many a width takes."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.people.drawing import SYSTEM, drawn, few_lines, scores_for, width_lines
from ragrelay.annexes.people.powered import PartlyScored, influences, powered
from ragrelay.base.errors import InputError
from ragrelay.scoring.score_files import ROWS, row_key

CELLS = [("lm", "bm25", "descending", 3), ("lm", "dense", "descending", 3), ("lm", "zeroshot", "none", 0)]
QIDS = [f"q{number:02}" for number in range(30)]
QUERIES = pl.DataFrame({"qid": QIDS, "query": [f"what is {qid}" for qid in QIDS]})
NAMES = ["generator", "retriever", "ordering", "k", "seed", "qid", "answer"]
ANSWERS = pl.DataFrame(
    [(*cell, 1, qid, f"{cell[1]} {qid}") for cell in CELLS for qid in QIDS], schema=NAMES, orient="row"
)
OF = pl.DataFrame(CELLS, schema=SYSTEM, orient="row")
NONE = pl.DataFrame(schema=ROWS)


def scored(cell: int, qids: list[str], value: float = 1.0) -> pl.DataFrame:
    rows = [dict(zip([*SYSTEM, "seed"], (*CELLS[cell], 1), strict=True)) | {"qid": qid, "value": value} for qid in qids]
    return pl.DataFrame(rows, schema=ROWS)


def test_every_cell_gets_as_many_of_the_same_queries() -> None:
    table = drawn(ANSWERS, NONE, QUERIES, OF, [1, 5], 24, 1)
    assert Counter(table["retriever"]) == {"bm25": 8, "dense": 8, "zeroshot": 8}
    assert table["qid"].n_unique() == 8 and table["value"].null_count() == 24
    assert set(table["probability"]) == {0.266667}, "as spreadsheets show it, too"
    [first] = table.head(1).to_dicts()
    assert first["key"] == row_key(first) and first["query"] == f"what is {first['qid']}"


def test_scores_that_there_are_come_first_and_count() -> None:
    table = drawn(ANSWERS, scored(0, QIDS[:10], 0.5), QUERIES, OF, [1, 5], 20, 1)
    assert table["value"].to_list()[:10] == [3.0] * 10 and Counter(table["retriever"])["bm25"] == 10
    assert Counter(table["retriever"]) == {"bm25": 10, "dense": 10, "zeroshot": 10}
    new = table.filter(pl.col("value").is_null())
    assert set(new["qid"]) == set(QIDS[:10])  # the other answers to the same queries
    assert drawn(ANSWERS, NONE, QUERIES, OF, [0, 1], 500, 1).height == 90


def test_the_same_seed_draws_the_same_and_each_answer_is_as_likely() -> None:
    one, same, other = (drawn(ANSWERS, NONE, QUERIES, OF, [0, 1], 12, seed)["key"].to_list() for seed in (1, 1, 2))
    assert one == same and set(one) != set(other)
    times = Counter(key for seed in range(150) for key in drawn(ANSWERS, NONE, QUERIES, OF, [0, 1], 30, seed)["key"])
    counts = np.array([times[row_key(row | {"probability": 0.333333})] for row in ANSWERS.to_dicts()])
    # 90 answers, each with 50 expected and a standard deviation of 5.8.
    assert counts.sum() == 4500 and counts.min() > 25 and counts.max() < 75


def test_seeds_are_of_different_queries_and_generators_too() -> None:
    seeds = pl.concat([ANSWERS, ANSWERS.with_columns(pl.lit(2, pl.Int64).alias("seed"))])
    table = drawn(seeds, NONE, QUERIES, OF, [0, 1], 60, 1)
    assert table["qid"].n_unique() == 20 and set(table.group_by("qid").len()["len"]) == {3}
    names = ["lm", "other"]
    both = pl.concat([ANSWERS.with_columns(pl.lit(name).alias("generator")) for name in names])
    of = pl.concat([OF.with_columns(pl.lit(name).alias("generator")) for name in names])
    table = drawn(both, NONE, QUERIES, of, [0, 1], 60, 1)
    queries = [set(table.filter(generator=name)["qid"]) for name in names]
    assert [len(each) for each in queries] == [10, 10] and not queries[0] & queries[1]


def test_only_the_named_cells_are_drawn_from() -> None:
    table = drawn(ANSWERS, scored(1, QIDS[:2]), QUERIES, OF.head(1), [0, 1], 5, 1)
    assert Counter(table["retriever"]) == {"dense": 2, "bm25": 5}


def test_another_draws_probabilities_are_refused() -> None:
    rows = scored(0, QIDS[:3]).with_columns(probability=pl.Series([0.1, 0.2, 0.2]), place=pl.lit("s.csv, line 2"))
    with pytest.raises(InputError, match="different probabilities within a cell"):
        drawn(ANSWERS, rows, QUERIES, OF, [0, 1], 5, 1)


@pytest.mark.parametrize(("most", "said"), [
    (60, None),
    (57, "only 19 scored answers, and people will have scored answers to 19 queries"),
    (3, "only 1 scored answers"),
])  # fmt: skip
def test_too_few_scores_for_an_interval_are_said_before_people_begin(most: int, said: str | None) -> None:
    *lines, slope = few_lines("demo", drawn(ANSWERS, NONE, QUERIES, OF, [0, 1], most, 1), OF, 30)
    assert len(lines) == (said is not None) and (said or "") in "".join(lines) and "(a slope)" in slope
    few = drawn(ANSWERS.filter(pl.col("qid") < "q12"), NONE, QUERIES, OF, [0, 1], 60, 1)
    assert (
        "only 12 scored answers, and people will have scored answers to 12 queries" in few_lines("demo", few, OF, 12)[0]
    ), "36 answers are all there are"
    assert few_lines("demo", few, OF.head(1), 12) == [], "one cell is compared with none"


@pytest.mark.parametrize(
    ("queries", "most", "before", "said"),
    [
        (50, 60, 0, "scored 40 answers for two retrievers. {} you need 80 (people: {{to_score: 120}})."),
        (50, 60, 10, "scored 47 answers for two retrievers. {} you need 80 (people: {{to_score: 110}})."),
        (30, 60, 0, "scored 40 answers for two retrievers. {} you need 80 (there are only 60)."),
        (50, 117, 0, "scored 78 answers for two retrievers. {} you need 80 (people: {{to_score: 120}})."),
        (50, 120, 0, None),
    ],
)
def test_too_few_scores_for_a_slope_are_said_before_people_begin(
    queries: int, most: int, before: int, said: str | None
) -> None:
    """Relay by people's scores takes more than a difference does; with the number that is named, it has an interval."""
    qids = [f"q{number:02}" for number in range(queries)]
    answers = pl.DataFrame(
        [(*cell, 1, qid, f"{cell[1]} {qid}") for cell in CELLS for qid in qids], schema=NAMES, orient="row"
    )
    texts = pl.DataFrame({"qid": qids, "query": qids})
    table = drawn(answers, scored(0, qids[:before]) if before else NONE, texts, OF, [0, 1], most, 1)
    lines = few_lines("demo", table, OF, queries)
    what = "To test relay with their scores (a slope),"
    assert lines == ([] if said is None else [f"demo: after these, people will have {said.format(what)}"])
    assert few_lines("demo", table, OF.filter(pl.col("retriever") != "dense"), queries) == [], "one retriever"


@pytest.mark.parametrize(("width", "sd", "r"), [(0.1, 0.3, 0.7), (0.19, 0.3, 0.0), (0.15, 0.3, 0.5)])
def test_the_plans_number_of_scores_gives_the_width(width: float, sd: float, r: float) -> None:
    """Even 40 scores, half of each cell, where Student's t is 7% above 1.96."""
    random, queries = np.random.default_rng(3), 400
    needed = scores_for(width, sd, r, queries)
    assert needed and needed <= (scores_for(width, sd, 0.0, queries) or 0)
    widths = []
    for _ in range(60):
        people = sd * random.normal(size=(queries, 2))
        scorer = r * people + np.sqrt(1 - r**2) * sd * random.normal(size=people.shape)
        ranks = random.random((queries, 1)).argsort(axis=0).argsort(axis=0)
        known = np.where(ranks < needed // 2, people, np.nan)
        found = powered(
            influences(PartlyScored(known, scorer, np.ones_like(people)), [[1.0, 0], [0, -1.0]], np.arange(queries))
        )
        widths.append(float(found.high - found.low) / 2)
    assert np.mean(widths) == pytest.approx(width, rel=0.05)
    assert scores_for(0.01, 0.5, 0.0, 50) is None and scores_for(0.5, 0.1, 0.0, 500) == 40


def test_the_plan_says_what_its_numbers_rest_on() -> None:
    [assumed] = width_lines("demo", [np.array([0.5])], 400)
    assert "(assumed standard deviation: 0.35)" in assumed and "±0.05" in assumed
    spread = np.linspace(0, 0.5, 25)
    [known] = width_lines("demo", [spread, spread + 0.5], 400)
    assert f"(standard deviation within cells so far: {spread.std(ddof=1):.2f})" in known
