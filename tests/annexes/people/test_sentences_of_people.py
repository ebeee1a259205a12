"""What the page says of people's scores, on made tables; every text is in an approved file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.people import sentences as of_people
from ragrelay.annexes.people.compare import compare_people
from ragrelay.annexes.people.study import PeopleStudy
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.vocabulary.columns import named
from ragrelay.report.display.templates import environment
from ragrelay.scoring.score_files import ROWS

from tests.support.approved import approve, not_approved

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
REPORT = Path(__file__).parents[3] / "workflow" / "report"
CELLS = [("bm25", "descending", 3), ("dense", "descending", 3), ("zeroshot", "none", 0)]
PRIMARY = {"retriever": "dense", "reference": "bm25", "ordering": "descending", "k": 3, "scorer": "good"}
NAMES = ["generator", "retriever", "ordering", "k", "seed", "qid"]


def study_of(
    folder: Path, scored: int, generators: int = 1, assessors: int = 1, help: float = 1.0, queries: int = 60,
    own: bool = False,
) -> PeopleStudy:  # fmt: skip
    """``scored`` answers of each cell by people; `good` follows them if it has ``help``, `wordy` length.

    With ``own``, each cell has an assessor of its own.
    """
    random = np.random.default_rng(3)
    rows, scores, texts, measures = [], {"good": [], "wordy": []}, [], {}
    for generator in [f"lm{number}" for number in range(1, generators + 1)]:
        for place, cell in enumerate(CELLS):
            for number in range(queries):
                key = (generator, *cell, 1, f"q{number:02}")
                value = float(np.clip(0.5 + 0.2 * (place < 2) + 0.2 * random.normal(), 0, 1))
                words = int(random.integers(5, 100))
                texts.append((*key, " ".join(["w"] * words)))
                scores["good"].append((*key, help * value + 0.1 * random.normal() + 0.2 * (generator == "lm2")))
                scores["wordy"].append((*key, value + 0.1 * np.log2(words) + 0.1 * random.normal()))
                measures.setdefault(cell[::2], {})[f"q{number:02}"] = float(random.random())
                if (number + 20 * place) % 60 < scored:
                    for assessor in range(assessors):
                        noise = 0.1 * random.normal() * (assessors > 1)
                        score = {
                            "value": float(np.clip(value + noise, 0, 1)),
                            "assessor": f"a{place if own else assessor}",
                        }
                        rows.append(dict(zip(NAMES, key, strict=True)) | score)
    answers = pl.DataFrame(texts, schema=[*NAMES, "answer"], orient="row")
    answers = answers.with_columns(words=pl.col("answer").str.split(" ").list.len().cast(pl.Int64))
    frames = {name: pl.DataFrame(of, schema=[*NAMES, "value"], orient="row") for name, of in scores.items()}
    tables = compare_people(
        pl.DataFrame(rows, schema=ROWS), answers, frames, "people", [("dense", "bm25")], measures, None
    )
    assert set(tables) == set(PeopleStudy.COLUMNS)
    for name, table in tables.items():
        write_csv(named(table, {"dataset": "demo"}), folder / f"{name}.csv")
    given: dict[str, Any] = {"people": "people", "scorers": ["good", "wordy"], "primary": {"demo": PRIMARY}}
    return PeopleStudy.read({name: folder / f"{name}.csv" for name in PeopleStudy.COLUMNS}, {"dataset": "demo"}, given)


STATES = {
    "few": {"scored": 10},
    "some": {"scored": 25},
    "many": {"scored": 50, "generators": 2, "assessors": 2},
    "useless": {"scored": 25, "help": 0.0},
    "all": {"scored": 60, "queries": 12},
    "own-people": {"scored": 50, "own": True},
}


@pytest.mark.parametrize("state", STATES)
def test_the_sentences_are_approved(state: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, **STATES[state])
    said = [
        of_people.people_answer(study).sentence,
        *of_people.people_sentences(study),
        *of_people.people_warnings(study),
    ]
    approve(APPROVED / f"{state}.txt", said)


def test_every_text_of_the_module_is_approved() -> None:
    assert not_approved(Path(of_people.__file__), APPROVED, Path(__file__)) == []


def test_an_interval_of_the_page_is_that_of_the_table(tmp_path: Path) -> None:
    study = study_of(tmp_path, 25)
    [gain] = study["people_estimates"].filter(quantity="gain", retriever="dense", scorer="good").to_dicts()
    assert gain["verdict"] == "better" and gain["width"] < 0.9 and gain["n_scores"] == 50
    said = "\n".join(of_people.people_sentences(study))
    assert "good, the difference in human scores is {value:.3f} [{low:.3f}, {high:.3f}];".format(**gain) in said
    [slope] = study["people_estimates"].filter(quantity="slope", scorer="good").to_dicts()
    assert slope["reason"] == "fewer than 80 human scores"


def test_the_answer_names_a_scorer_that_is_better_and_says_when_there_are_too_few(tmp_path: Path) -> None:
    study = study_of(tmp_path, 50)
    table = study["people_comparisons"]
    better = table.with_columns(
        difference=pl.when(quantity="rho").then(-0.2).otherwise("difference"),
        high=pl.when(quantity="rho").then(-0.1).otherwise("high"),
    )
    answer = of_people.people_answer(replace(study, tables={**study.tables, "people_comparisons": better}))
    assert answer.question == "Would a person say so?"
    assert answer.strong.startswith("good correlates better with human scores than wordy (over answers, ρ = 0.9")
    agreement = study["people_agreement"].filter(scorer="good")
    tables = {**study.tables, "people_agreement": agreement}
    alone = replace(study, tables=tables, params={**study.params, "scorers": ["good"]})
    assert of_people.people_answer(alone).strong.startswith(
        "Over answers, good correlates with human scores at ρ = 0.9"
    )
    none = replace(study, tables={**study.tables, "people_agreement": agreement.clear()})
    assert of_people.people_answer(none).strong == "Too few human scores to say"


def test_the_best_of_several_scorers_is_corrected_for_their_pairs(tmp_path: Path) -> None:
    """A p-value of 0.03 decides one comparison, and none of three."""
    study = study_of(tmp_path, 60)
    compared = study["people_comparisons"].with_columns(p_value=pl.lit(0.03))
    more = [compared, *(compared.with_columns(against=pl.lit(name)) for name in ("second", "third"))]
    answers = [
        of_people.people_answer(replace(study, tables={**study.tables, "people_comparisons": pl.concat(tables)})).strong
        for tables in ([compared], more)
    ]
    assert answers[0].startswith("good correlates better with human scores than wordy")
    assert answers[1].startswith("We do not know which scorer correlates best with human scores; ρ is highest for good")


def test_the_answer_points_to_the_section_where_people_scored_all_answers(tmp_path: Path) -> None:
    remark = of_people.people_answer(study_of(tmp_path, 60, queries=12)).remark
    assert remark.endswith("For their intervals (over queries), see the sections for the scorer people.")
    for scored, queries in ((60, 60), (10, 60)):
        assert not of_people.people_answer(study_of(tmp_path, scored, queries=queries)).remark


def test_comparisons_whose_answers_people_all_scored_are_named(tmp_path: Path) -> None:
    """Where one answer has no score, its comparisons are not among them; of many, the first are named."""
    study = study_of(tmp_path, 60, queries=12)
    table, gain = study["people_estimates"], "bm25 compared with no context"

    def remark(estimates: pl.DataFrame) -> str:
        return of_people.people_answer(replace(study, tables={**study.tables, "people_estimates": estimates})).remark

    lacking = (pl.col("retriever") == "dense") | (pl.col("against_retriever") == "dense").fill_null(False)
    some = remark(table.with_columns(n_scores=pl.col("n_scores") - lacking.cast(pl.Int64)))
    assert some.startswith(
        f"People scored every answer in 1 comparison: {gain} (lm1, k = 3, descending order). For their"
    )
    many = remark(pl.concat([table.with_columns(generator=pl.lit(f"lm{number}")) for number in (1, 2)]))
    assert many.count(" compared with ") == 3 and "and 3 others. For their intervals" in many


def test_the_page_shows_where_the_intervals_are(tmp_path: Path) -> None:
    answer = of_people.people_answer(study_of(tmp_path, 60, queries=12))
    shown = {"anchor": "people1", "where": "demo", "sentences": [], "parts": []}
    template = environment(REPORT).get_template("people.html.j2")
    page = template.render(people=[shown | {"answer": answer}, shown | {"answer": answer._replace(remark="")}])
    assert page.count(answer.remark) == 1 and page.index("demo") < page.index(answer.remark)


def test_different_people_are_warned_of(tmp_path: Path) -> None:
    """Every cell has an assessor of its own: no comparison has a verdict, and the page counts them."""
    study = study_of(tmp_path, 50, own=True)
    compared = study["people_estimates"].filter(pl.col("quantity").is_in(["gain", "difference"]), scorer="good")
    assert compared["verdict"].null_count() == compared["low"].null_count() == compared.height == 3
    assert study["people_estimates"].filter(quantity="P")["low"].null_count() == 0
    (warning,) = of_people.people_warnings(study)
    assert warning.startswith(
        "In 3 comparisons on demo, different people scored the two cells. Example (lm1, k = 3, bm25 compared with no "
        "context): a0 gave 100% of the scores with bm25 and 0% without context. "
    )
    assert of_people.people_warnings(study_of(tmp_path, 50, assessors=2)) == []
