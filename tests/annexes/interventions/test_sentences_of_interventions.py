"""What the page says of interventions: approved texts of every state, and each claim against its table."""

import re
from pathlib import Path

import polars as pl
import pytest
from ragrelay.annexes.interventions import sentences as of_interventions
from ragrelay.annexes.interventions.sentences import effect_answer, effect_sentences

from tests.annexes.interventions.made_effects import DEFINITIONS, effects_of, made, study_of
from tests.support.approved import approve, not_approved
from tests.unit.report.second_way import PACKAGE, ends

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
SWAP, WITHOUT = ({name: DEFINITIONS[name]} for name in ("swap", "without"))
STATES: dict[str, pl.DataFrame] = {
    "better": effects_of(made(falls=0.1)),
    "worse": effects_of(made(worth=-0.06), definitions=SWAP),
    "no-difference": effects_of(made(worth=0.0, noise=0.005, n=24), definitions=SWAP),
    "not-known": effects_of(made(worth=0.01, noise=0.2), definitions=SWAP, slopes=[]),
    "not-better": effects_of(made(worth=-0.02, noise=0.1, n=17), 17, definitions=SWAP),
    "nine": effects_of(made(n=9), definitions=SWAP),
    "few-for-relay": effects_of(made(), definitions=SWAP).with_columns(
        relay=pl.when(k=1).then("relay"),
        relay_reason=pl.when(k=1)
        .then(pl.lit("6 of 24 queries have contexts that differ, but 20 are needed"))
        .otherwise(pl.lit("3 of 24 queries have contexts that differ, but 20 are needed")),
    ),
    "few": effects_of(made(n=4), definitions=SWAP),
    "none": effects_of(made(n=0)),
    "left-out": effects_of(made(noise=0.06), definitions=WITHOUT),
    "left-out-worse": effects_of(made(worth=-0.06), definitions=WITHOUT),
    "left-out-no-difference": effects_of(made(worth=0.0, noise=0.005, n=24), definitions=WITHOUT),
    "left-out-few": effects_of(made(n=9), definitions=WITHOUT),
    "left-out-not-known": effects_of(made(worth=0.01, noise=0.2), definitions=WITHOUT),
}


@pytest.mark.parametrize("state", STATES)
def test_every_state_says_what_is_approved(state: str) -> None:
    study = study_of(STATES[state])
    answer = effect_answer(study)
    approve(APPROVED / f"{state}.txt", [answer.question, answer.sentence, *effect_sentences(study)])


def test_every_text_is_in_an_approved_page() -> None:
    module = PACKAGE / "annexes/interventions/sentences.py"
    assert module == Path(of_interventions.__file__)
    assert not_approved(module, APPROVED) == []


@pytest.mark.parametrize("state", STATES)
def test_the_population_and_the_effect_are_those_of_the_table(state: str) -> None:
    said = effect_sentences(study_of(STATES[state]))
    for row in STATES[state].filter(part="overall", references="lenient").to_dicts():
        (of_k,) = [
            one
            for one in said
            if one.startswith(f"Intervention “{row['intervention']}” on bm25") and f"), k = {row['k']}: " in one
        ]
        rest = row["n_queries"] - row["n"]
        effect = ends(row["effect"], None if row["low"] is None else (row["low"], row["high"]))
        assert f"{'by' if row['kind'] == 'swap' else 'is'} {effect} " in of_k
        some = f"{row['n']} of the" if rest else "all"
        assert f" {some} {row['n_queries']} queries{', those ' if rest else ' w'}" in of_k
        assert ("would overturn" in of_k) == (row["stands"] is False)
        if row["slope"] is not None:
            (of_slope,) = [one for one in said if f"“{row['intervention']}” on" in one and ": per 0.1" in one]
            slope, low, high = (row[name] and row[name] / 10 for name in ("slope", "slope_low", "slope_high"))
            assert f"{ends(slope, None if low is None else (low, high))} at k = {row['k']}" in of_slope
            fallen = re.search(r"would move the intervals? at k = ([\d and,]+) by", of_slope)
            assert (str(row["k"]) in re.findall(r"\d+", fallen[1] if fallen else "")) == (row["slope_stands"] is False)


@pytest.mark.parametrize("state", STATES)
def test_verdicts_on_unseen_references_and_places_say_if_one_query_undoes_them(state: str) -> None:
    said = effect_sentences(study_of(STATES[state]))
    unseen = (pl.col("part") == "overall") & (pl.col("references") == "lenient-unseen")
    paired = (pl.col("part") == "first less last") & (pl.col("references") == "lenient")
    for rows, words in (
        (unseen, "in none of the contexts"),
        (paired, "at the first position, minus the effect at the last"),
    ):
        for (name,), part in STATES[state].filter(rows).partition_by("intervention", as_dict=True).items():
            [of_rows] = [one for one in said if one.startswith(f"Intervention “{name}” on bm25") and words in one]
            fallen = re.search(r"would overturn the verdicts? for ((?:(?: and )?k = \d+)+)\.", of_rows)
            found = re.findall(r"\d+", fallen[1]) if fallen else []
            assert found == [str(row["k"]) for row in part.to_dicts() if row["stands"] is False]


@pytest.mark.parametrize("state", [name for name in STATES if name != "none"])
def test_the_first_answer_has_the_word_of_every_k(state: str) -> None:
    rows = STATES[state].filter(part="overall", references="lenient").to_dicts()
    said = effect_answer(study_of(STATES[state])).strong
    first, *rest = said.split("; ")
    short = {"better": "better", "more": "better", "worse": "worse", "less": "worse", "no difference": "equivalent",
             "as much": "equivalent", "undecided": "other", "too few queries": "too few"}  # fmt: skip
    sentences = {"do not know": "other", "Too few": "too few", "answer better": "better", "answer more": "better",
                 "answer worse": "worse", "answer less": "worse", "beyond the margin": "equivalent",
                 "as much as": "equivalent"}  # fmt: skip
    word = next(word for text, word in sentences.items() if text in first)
    known = dict.fromkeys(re.findall(r"\d+", re.split(" with |, bm25", first.split("k = ")[1])[0]), word)
    for clause in rest:
        parts = re.fullmatch(r"(\D+) at k = ((?:\d+(?:, | and )?)+)", clause)
        assert parts, clause
        text, ks = parts.groups()
        known |= dict.fromkeys(re.findall(r"\d+", ks), short[text])
    of_first = {str(row["k"]): row["verdict"] for row in rows if row["intervention"] == rows[0]["intervention"]}
    decided = ("better", "worse", "equivalent", "too few")
    assert known == {k: next((one for one in decided if said.startswith(one)), "other") for k, said in of_first.items()}


def test_several_verdicts_share_a_title() -> None:
    frame = effects_of(made(), definitions=SWAP)
    words = {1: "worse", 3: "better"}
    mixed = frame.with_columns(verdict=pl.col("k").replace_strict(words, return_dtype=pl.String))
    better = "Replacing a non-relevant passage with a relevant one makes the answer better at k = 3 with bm25"
    assert effect_answer(study_of(mixed)).strong == f"{better}; worse at k = 1"
    unknown = mixed.with_columns(verdict=pl.col("verdict").replace("worse", "too few queries"))
    assert effect_answer(study_of(unknown)).strong == f"{better}; too few queries at k = 1"
    unknown = mixed.with_columns(verdict=pl.col("verdict").replace("worse", "undecided"))
    assert effect_answer(study_of(unknown)).strong == f"{better}; undecided at k = 1"


def test_contexts_that_have_nothing_to_compare_are_told() -> None:
    """A context of one passage has no other; and without any effect, each k is named."""
    own = "a context with one passage can’t contain both a relevant and a non-relevant passage."
    last = effect_sentences(study_of(STATES["left-out"]))[-1]
    assert last == f"Intervention “without” on bm25, k = 1: nothing to compare, because {own}"
    assert not any("to compare" in text for text in effect_sentences(study_of(STATES["worse"])))
    every = effect_sentences(study_of(STATES["none"]))
    assert [text.partition(":")[0] for text in every] == [
        f"Intervention “{name}” on bm25, k = {k}" for name in DEFINITIONS for k in (1, 3)
    ]
