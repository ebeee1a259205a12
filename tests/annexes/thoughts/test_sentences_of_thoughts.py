"""What every sentence on thoughts claims, computed a second way, as test_every_sentence.py does it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.thoughts import sentences as of_thoughts
from statsmodels.stats.multitest import multipletests

from tests.annexes.thoughts.made_thoughts import answers, made, study_of
from tests.support.approved import approve, not_approved
from tests.support.report_study import GRID
from tests.unit.report.second_way import PACKAGE, agree, between, chance, joined, num, p_cautious, percent

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
ALONE = GRID | {"retrievers": ["bm25"], "seeds": [1]}
NAMES = {
    "demo",
    "demo-lm",
    "bm25",
    "dense",
    "rel",
    "nrel",
    "descending",
    "longer",
    "shorter",
    "unknown",
    "unfinished",
    "no test",
}
WORDS = ("more", "fewer", "undecided", "too few", "no test")
SHOWN = {"more": "longer", "fewer": "shorter"}
STATES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "whole": (made(), GRID),
    "cut": (made(budget=250), GRID),
    "one-retriever": (made(grid=ALONE, n=9), ALONE),
    "three-queries": (made(n=3), GRID),
    "all-alike": (made().with_columns(thought_tokens=pl.lit(8, pl.Int64), thought_end=pl.lit("budget")), GRID),
    "all-unknown": (made().with_columns(thought_tokens=pl.lit(None, pl.Int64), thought_end=pl.lit("mark")), GRID),
    "all-unknown-some-unfinished": (
        made().with_columns(
            thought_tokens=pl.lit(None, pl.Int64),
            thought_end=pl.when(pl.col("k") == 5).then(pl.lit("unfinished")).otherwise(pl.lit("mark")),
        ),
        GRID,
    ),
}

BUDGETS = {"cut": 250}


def tokens(value: float, interval: tuple[float, float] | None = None) -> str:
    ends = [value, *(interval or ())]
    digits = 0 if max(map(abs, ends)) >= 100 else 1
    return num(value, digits) + (f" [{num(interval[0], digits)}, {num(interval[1], digits)}]" if interval else "")


class Counted:
    """The rows of made answers, counted without the package."""

    def __init__(self, frame: pl.DataFrame, grid: dict[str, Any], budget: int) -> None:
        self.cells: dict[tuple[str, str, int], list[tuple[str, int | None, str]]] = {}
        for retriever, ordering, k, qid, _, count, end in frame.iter_rows():
            self.cells.setdefault((retriever, ordering, k), []).append((qid, count, end))
        self.grid, self.budget = grid, budget
        # All orderings of one passage have one prompt.
        self.once = [cell for cell in self.cells if cell[2] != 1 or cell[1] == "descending"]

    def means(self, cell: tuple[str, str, int]) -> dict[str, float]:
        found: dict[str, list[int]] = {}
        for qid, count, end in self.cells[cell]:
            if count is not None or end == "none":
                found.setdefault(qid, []).append(count or 0)
        return {qid: float(np.mean(values)) for qid, values in found.items()}

    def share(self, *cells: tuple[str, str, int]) -> tuple[int, int, int]:
        """Thoughts that were cut, that did not end, and all."""
        ends = [end for cell in cells for *_, end in self.cells[cell] if end != "none"]
        return ends.count("budget"), ends.count("unfinished"), len(ends)

    def beside(self, cell: tuple[str, str, int]) -> str:
        cut, unfinished, thoughts = self.share(cell)
        return f" {percent((cut + unfinished) / thoughts)} cut unfinished" if cut + unfinished else ""

    def difference(self, cell: tuple[str, str, int], against: str) -> np.ndarray:
        other = self.means(("zeroshot", "none", 0) if against == "zeroshot" else (against, *cell[1:]))
        own = self.means(cell)
        return np.array([own[qid] - other[qid] for qid in sorted(own.keys() & other.keys())])

    def undone(self, cell: tuple[str, str, int], against: str) -> bool:
        """Whether a query with a mean thought on one side, and one to the budget on the other, undoes the verdict."""
        values, word = self.difference(cell, against), self.verdict(self.difference(cell, against))
        if word not in ("more", "fewer"):
            return False
        other = self.means(("zeroshot", "none", 0) if against == "zeroshot" else (against, *cell[1:]))
        both = sorted(self.means(cell).keys() & other.keys())
        own, its = (float(np.mean([means[qid] for qid in both])) for means in (self.means(cell), other))
        low, high = between(np.append(values, own - self.budget if word == "more" else self.budget - its)) or (0.0, 0.0)
        return low <= 0 if word == "more" else high >= 0

    def verdict(self, values: np.ndarray) -> str:
        if len(values) >= 5 and np.ptp(values) < 1e-9:
            return "no test"
        if len(values) < 12 or (values != 0).sum() < 8:
            return "too few"
        low, high = between(values) or (0.0, 0.0)
        return "more" if low > 0 else "fewer" if high < 0 else "undecided"


def claims_of(counted: Counted) -> tuple[str, list[str], list[str]]:
    """What the page claims: the answer, the sentences, the warnings."""
    grid = counted.grid
    base = "bm25" if len(grid["retrievers"]) > 1 else None
    claimed, answer = [], ""
    for against in ("zeroshot", *([base] if base else [])):
        others = [name for name in grid["retrievers"] if name != against]
        lead = {name: counted.difference((name, "descending", 5), against) for name in others}
        said = {name: counted.verdict(values) for name, values in lead.items()}
        by_word = {word: [n for n in others if said[n] == word] for word in WORDS}
        named = "" if against == "zeroshot" else against
        few = ["too few", *by_word["too few"]] if by_word["too few"] else []
        left = [*by_word["undecided"], *(["undecided"] if by_word["undecided"] else []), *few]
        fallen = [n for n in others if counted.undone((n, "descending", 5), against)]
        remark = f" would overturn {joined(fallen)}" if fallen else ""
        if by_word["more"] or by_word["fewer"]:
            groups = [f"{SHOWN[word]} {joined(by_word[word])}" for word in ("more", "fewer") if by_word[word]]
            answer = f"demo-lm {joined(groups)} {named} {joined(left)}{remark}"
        else:
            answer = f"undecided demo-lm longer shorter {joined(others)} {named}"
        if not any(map(len, lead.values())):
            claimed.append(f"{named} demo demo-lm descending 5")
            continue
        here = ("zeroshot", "none", 0) if against == "zeroshot" else (against, "descending", 5)
        parts = []
        for word, names in by_word.items():
            shown = [
                f"{n} {tokens(lead[n].mean(), between(lead[n]))}{counted.beside((n, 'descending', 5))}" for n in names
            ]
            parts += [joined([SHOWN.get(word, word), *shown])] if names else []
        mean = float(np.mean(list(counted.means(here).values())))
        claimed.append(
            f"demo demo-lm descending 5 {named} {tokens(mean)}{counted.beside(here)} "
            f"{max(map(len, lead.values()))} {joined(parts)}{remark}"
        )
        cells = [cell for cell in counted.once if cell[0] in others]
        values = [counted.difference(cell, against) for cell in cells]
        values = [each for each in values if len(each) >= 5 and np.ptp(each) > 1e-9]
        if values:
            words = [counted.verdict(each) for each in values]
            holm = multipletests([p_cautious(each) for each in values], method="holm")[1]
            kept = [
                sum(p < 0.05 and word == one for p, word in zip(holm, words, strict=True)) for one in ("more", "fewer")
            ]
            few = f" {words.count('too few')} too few" if "too few" in words else ""
            expected = chance(len(words)).replace("fewer than", "fewer")
            claimed.append(
                f"{named} longer {words.count('more')} {len(words)} shorter {words.count('fewer')} "
                f"{words.count('undecided')} undecided{few} longer {kept[0]} shorter {kept[1]} longer shorter "
                f"{expected}"
            )
    rows = [row for cell in counted.once for row in counted.cells[cell]]
    unknown = sum(count is None and end != "none" for _, count, end in rows)
    answer = "cannot demo-lm unknown" if unknown == len(rows) else answer
    lower = "" if unknown == len(rows) else "lower"
    cut, unfinished, thoughts = counted.share(*counted.once)
    share = percent((cut + unfinished) / thoughts)
    if cut and unfinished:
        claimed.append(f"{cut:,} cut {unfinished:,} unfinished {share} {thoughts:,} {lower}")
    elif cut or unfinished:
        part = f"{cut + unfinished:,} {thoughts:,} {share}" if cut + unfinished < thoughts else f"{thoughts:,}"
        claimed.append(f"{part} {'cut' if cut else 'unfinished'} {lower}")
    if unknown:
        claimed.append(f"unknown {unknown:,} {len(rows):,}" if unknown < len(rows) else f"unknown {unknown:,}")
    many = (cut + unfinished) / thoughts > 0.1
    some = "" if cut + unfinished == thoughts else f"{share} {cut + unfinished:,}"
    return answer, claimed, [f"demo {some} demo-lm {thoughts:,} cut unfinished {lower}"] * many


@pytest.mark.parametrize("state", STATES)
def test_sentences_say_what_the_answers_say_and_are_approved(state: str) -> None:
    frame, grid = STATES[state]
    budget = BUDGETS.get(state, 4096)
    study = study_of(frame, grid, budget)
    answer, claimed, warned = claims_of(Counted(frame, grid, budget))
    found = of_thoughts.thought_answer(study)
    said, warnings = of_thoughts.thought_sentences(study), of_thoughts.thought_warnings(study)
    agree([found.sentence], [answer], NAMES, state)
    agree(said, claimed, NAMES, state)
    agree(warnings, warned, NAMES, state)
    approve(APPROVED / f"{state}.txt", [found.question, found.sentence, *said, *warnings])


def test_the_states_are_what_their_names_say() -> None:
    """Every word is among them: more, fewer, what we do not know, too few, and a warning with and without need."""
    whole, cut = (study_of(*STATES[name], BUDGETS.get(name, 4096)) for name in ("whole", "cut"))
    assert set(whole["thought_differences"]["verdict"]) == {"more", "fewer", "undecided"}
    assert {*whole["thought_differences"]["stands"], *cut["thought_differences"]["stands"]} == {True, False, None}
    assert of_thoughts.thought_warnings(cut) and not of_thoughts.thought_warnings(whole)


def test_a_tenth_is_not_yet_many() -> None:
    rows = [("zeroshot", "none", 0, f"q{q}", 1, 5, "budget" if q < 3 else "mark") for q in range(30)]
    assert of_thoughts.thought_warnings(study_of(answers(rows))) == []
    rows[3] = (*rows[3][:6], "unfinished")
    (warning,) = of_thoughts.thought_warnings(study_of(answers(rows)))
    assert warning.startswith("On demo, 13% (4) of demo-lm’s 30 thoughts were cut off at the budget or left unfinished")


def test_a_reference_that_knows_the_judgements_is_said_to() -> None:
    """The primary pair of a ranking and an oracle compares with the oracle."""
    frame, grid = STATES["whole"]
    study = study_of(frame, grid)
    assert study.primary is not None
    kinds = {**grid["kinds"], study.primary["reference"]: "oracle"}
    judged = replace(study, params={**study.params, "grid": {**grid, "kinds": kinds}})
    said = [of_thoughts.thought_answer(judged).sentence, *of_thoughts.thought_sentences(judged)]
    known = f"with {study.primary['reference']} (an oracle: it uses the judgements)"
    assert known in said[0] and sum(known in one for one in said) >= 2
    approve(APPROVED / "against-an-oracle.txt", said)


def test_a_text_of_the_page_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/thoughts/sentences.py", APPROVED) == []
