"""A kind of scorer is one file: dropped in, it is in the schema, the reference, the checks, downloads and scores."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ragrelay.base.errors import InputError
from ragrelay.execution.fetching.downloads import hub_files
from ragrelay.execution.jobs.code_digest import SCRIPTS, _code, code_digest
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.scorer import SCORER_KINDS, Task, make_scorer

from tests.support.code_edits import edit_functions
from tests.unit.config.test_config import check_error
from tests.unit.conftest import study_of
from tests.unit.kinds.conftest import Drop

LETTERS = '''"""Letters in common."""

from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import Download
from ragrelay.base.settings import Text
from ragrelay.scoring.pair_scorer import PairScorer


class Letters(PairScorer):
    """Share of the reference's letters that the answer has."""

    most: int = Field(5, ge=1, description="How many letters count.")
    model: Text | None = Field(None, description="A model of letters.")

    def check(self, place, study):
        super().check(place, study)
        if self.most > 99:
            raise InputError(f"{place}.most'", str(self.most), "fewer letters")

    def downloads(self):
        if self.model:
            yield Download("model", self.model)

    def decisive(self):
        return {"kind": "letters", "most": self.most}

    def pair(self):
        return lambda answer, reference: len(set(answer) & set(reference[: self.most])) / self.most
'''


@pytest.fixture
def letters(drop: Drop, config: dict[str, Any]) -> dict[str, Any]:
    """The small configuration with a scorer of the new kind in its grid."""
    drop(SCORER_KINDS, "letters", LETTERS)
    config["scorers"]["abc"] = {"kind": "letters", "most": 4}
    config["grid"]["scorers"].append("abc")
    return config


def test_definition_and_checks(letters: dict[str, Any], tmp_path: Path) -> None:
    assert study_of(letters, tmp_path).scorer("abc") == {
        "kind": "letters",
        "most": 4,
        "references": "judged",
        "aggregate": "max",
        "utility": "absolute",
    }
    wrong: list[tuple[dict[str, Any], list[str]]] = [
        ({"most": 0}, ["'scorers.abc.most'", "found 0", "at least 1"]),
        ({"most": 100}, ["'scorers.abc.most'", "found 100", "fewer letters"]),
        ({"kind": "leters"}, ["'scorers.abc.kind'", "letters, llm_judge, nuggets, panel", "did you mean 'letters'?"]),
        ({"references": "gold"}, ["'datasets.small.path'", "no answers.jsonl", "which scorer abc needs"]),
        ({"aggregate": "centroid"}, ["'scorers.abc.aggregate'", "'centroid'", "max or mean"]),
    ]
    for keys, parts in wrong:
        letters["scorers"]["abc"] = {"kind": "letters", **keys}
        check_error(letters, tmp_path, parts)


def test_reference(letters: dict[str, Any], reference: str) -> None:
    assert "| `kind` | `letters` | required | Share of the reference's letters that the answer has. |" in reference
    assert "| `most` | integer, ≥ 1 | `5` | How many letters count. |" in reference


def test_downloads(letters: dict[str, Any], tmp_path: Path) -> None:
    letters["scorers"]["abc"]["model"] = "lab/letters"
    (asked,) = [file for file in hub_files(study_of(letters, tmp_path)) if "scorers" in file["place"]]
    assert asked["name"] == "lab/letters" and asked["place"] == "config key 'scorers.abc.model'"


def test_scores(letters: dict[str, Any], tmp_path: Path) -> None:
    definition = study_of(letters, tmp_path).scorer("abc")
    found = make_scorer(definition, tmp_path).score([Task(["tea", ""], ["teapot", "sea"])])[0]
    assert found.f1.tolist() == [[0.75, 0.5], [0, 0]]


def test_editing_one_kind_reruns_no_other(tmp_path: Path) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))

    def digests() -> dict[str, str]:
        code_digest.cache_clear()
        _code.cache_clear()
        modules = {kind: SCORER_KINDS.module({"kind": kind}) for kind in SCORER_KINDS.names()}
        return {
            kind: code_digest("scoring/score_answers.py", module, folder=scripts) for kind, module in modules.items()
        }

    def edit(name: str) -> set[str]:
        """The kinds whose scores are tabled anew when each function of a module of scoring is edited."""
        before, path = digests(), scripts / "ragrelay" / "scoring" / name
        edit_functions(path)
        return {kind for kind, found in digests().items() if found != before[kind]}

    assert edit("scorers/rouge.py") == {"rouge"}
    assert edit("squad.py") == {"exact_match", "token_f1", "containment"}
    assert edit("encoder.py") == {"bertscore"}
    judged = {name for name in SCORER_KINDS.names() if issubclass(SCORER_KINDS[name], JudgeScorer)}
    assert edit("judge_scorer.py") == judged
    assert edit("pair_scorer.py") == set(SCORER_KINDS.names()) - {"bertscore", "cosine", "file", "panel", *judged}
    assert edit("retriever_table.py") == set(SCORER_KINDS.names())


OWN = """
def overlap(answer, reference, least=0):
    ours, theirs = set(answer.split()), set(reference.split())
    shared = len(ours & theirs)
    if shared <= least:
        return 0.0, 0.0, 0.0
    return shared / len(ours), shared / len(theirs), 2 * shared / (len(ours) + len(theirs))


def lengths(answers, references):
    return [abs(len(answer) - len(reference)) for answer, reference in zip(answers, references)]


def few(answers, references):
    return [1.0]


def wrong(answer, reference):
    return "much"


def infinite(answer, reference):
    return 1.0, float("inf"), 1.0
"""
TASK = Task(["green tea", "tea"], ["green tea leaves", "coffee"])


@pytest.fixture
def own(tmp_path: Path, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The small configuration with scorers that are functions of a file beside the study."""
    (tmp_path / "own_scorers.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    config["scorers"]["own"] = {"kind": "python", "function": "own_scorers:overlap"}
    config["grid"]["scorers"].append("own")
    yield config
    sys.modules.pop("own_scorers", None)


def test_a_function_of_ones_own(own: dict[str, Any], tmp_path: Path) -> None:
    found = make_scorer(study_of(own, tmp_path).scorer("own"), tmp_path).score([TASK])[0]
    assert found.f1 == pytest.approx(np.array([[0.8, 0], [0.5, 0]])) and found.precision.tolist() == [[1, 0], [1, 0]]
    own["scorers"]["own"] |= {"options": {"least": 1}}
    found = make_scorer(study_of(own, tmp_path).scorer("own"), tmp_path).score([TASK])[0]
    assert found.f1 == pytest.approx(np.array([[0.8, 0], [0, 0]]))
    own["scorers"]["own"] = {"kind": "python", "function": "own_scorers:lengths", "batch": True}
    found = make_scorer(study_of(own, tmp_path).scorer("own"), tmp_path).score([TASK])[0]
    assert found.f1.tolist() == [[7, 3], [13, 3]]


def test_its_fingerprint_follows_file_and_options(own: dict[str, Any], tmp_path: Path) -> None:
    def fingerprint(**keys: Any) -> str:
        own["scorers"]["own"] |= keys
        return make_scorer(study_of(own, tmp_path).scorer("own"), tmp_path).fingerprint

    first = fingerprint()
    assert first == fingerprint(aggregate="mean") != fingerprint(options={"least": 1})
    assert first == fingerprint(options={})
    (tmp_path / "own_scorers.py").write_text(OWN + "\n# other\n")
    assert first != fingerprint()


@pytest.mark.parametrize(
    ("function", "batch", "message"),
    [
        ("few", True, "scorer own_scorers:few: found 1 values for 4 pairs; expected one per pair"),
        ("wrong", False, "found the return value 'much'; expected a finite number"),
        ("infinite", False, r"found the return value \(1.0, inf, 1.0\)"),
    ],
)
def test_what_it_returns_is_checked(
    own: dict[str, Any], tmp_path: Path, function: str, batch: bool, message: str
) -> None:
    own["scorers"]["own"] |= {"function": f"own_scorers:{function}", "batch": batch}
    with pytest.raises(InputError, match=message):
        make_scorer(study_of(own, tmp_path).scorer("own"), tmp_path).score([TASK])


def test_a_function_that_is_not_there_is_told_at_the_start(own: dict[str, Any], tmp_path: Path) -> None:
    own["scorers"]["own"]["function"] = "own_scorers:overlaps"
    check_error(own, tmp_path, ["'scorers.own.function'", "no function 'overlaps'"])
    own["scorers"]["own"]["function"] = "own_scorer:overlap"
    check_error(own, tmp_path, ["'scorers.own.function'", "no module 'own_scorer'"])
