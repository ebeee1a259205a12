"""ACU against values computed by hand, for every branch and stance; its limits and its bounds."""

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.acu.pairs import acu, change
from ragrelay.annexes.acu.stances import DIRECTIONS, STANCES, contradicts

from tests.support.sandbox import ROOT

UP_DOWN = {
    "up": (0.2, 0.6, (0.6 - 0.2) / 0.8),
    "down": (0.8, 0.2, -0.6 / 0.8),
    "the same": (0.3, 0.3, 0.0),
    "from nothing": (0.0, 0.25, 0.25),
    "from nothing to all": (0.0, 1.0, 1.0),
    "nothing stays nothing": (0.0, 0.0, 0.0),
    "to nothing": (0.7, 0.0, -1.0),
    "from all": (1.0, 0.4, -0.6),
    "from all to nothing": (1.0, 0.0, -1.0),
    "all stays all": (1.0, 1.0, 0.0),
    "to all": (0.5, 1.0, 1.0),
}
# P(True), P(None), P(False): 0.5 -> 0.8 is ΔP 0.6; 0.2 -> 0.1 is -0.5; 0.25 -> 0.05 is -0.8.
BEFORE, AFTER = (0.5, 0.2, 0.25), (0.8, 0.1, 0.05)
BY_HAND = {
    "supports": (0.6 + 0.5 + 0.8) / 3,
    "refutes": (-0.6 + 0.5 - 0.8) / 3,
    "insufficient-neutral": (-0.6 - 0.5 + 0.8) / 3,
    "insufficient-contradictory": (-0.6 - 0.5 + 0.8) / 3,
    "not_applicable": (-0.6 - 0.5 + 0.8) / 3,
    "insufficient-refutes": (-0.6 - 0.5 - 0.8) / 3,
    "insufficient-supports": (0.6 - 0.5 + 0.8) / 3,
}


@pytest.mark.parametrize("case", UP_DOWN)
def test_change(case: str) -> None:
    before, after, expected = UP_DOWN[case]
    assert change(np.array([before]), np.array([after])) == pytest.approx([expected])


@pytest.mark.parametrize("stance", STANCES)
def test_acu_of_every_stance(stance: str) -> None:
    assert acu(np.array([BEFORE]), np.array([AFTER]), [stance]) == pytest.approx([BY_HAND[stance]])


def test_many_at_once_are_as_one_by_one() -> None:
    found = acu(np.tile(BEFORE, (7, 1)), np.tile(AFTER, (7, 1)), list(STANCES))
    assert found == pytest.approx([BY_HAND[stance] for stance in STANCES])
    assert acu(np.zeros((0, 3)), np.zeros((0, 3)), []).shape == (0,)


def test_bounds() -> None:
    """ACU is 1 where all words moved fully as the stance says, -1 where fully the other way, and never beyond."""
    for stance, directions in DIRECTIONS.items():
        wanted = np.array([[(d + 1) / 2 for d in directions]])
        assert acu(1.0 - wanted, wanted, [stance]) == pytest.approx([1.0])
        assert acu(wanted, 1.0 - wanted, [stance]) == pytest.approx([-1.0])
    chance = np.random.default_rng(0)
    found = acu(chance.random((500, 3)), chance.random((500, 3)), [STANCES[i % 7] for i in range(500)])
    assert np.abs(found).max() <= 1.0


def test_continuous_at_the_limits() -> None:
    near = 1e-9
    assert change(np.array([near]), np.array([0.25])) == pytest.approx(change(np.array([0.0]), np.array([0.25])))
    assert change(np.array([1 - near]), np.array([0.25])) == pytest.approx(change(np.array([1.0]), np.array([0.25])))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_no_probabilities(wrong: float) -> None:
    with pytest.raises(ValueError, match="must be in"):
        change(np.array([wrong]), np.array([0.5]))
    with pytest.raises(ValueError, match="must be in"):
        change(np.array([0.5]), np.array([wrong]))


def test_unknown_stance() -> None:
    with pytest.raises(KeyError):
        acu(np.array([BEFORE]), np.array([AFTER]), ["agrees"])


def test_published_samples() -> None:
    """ACU is that of the samples that the authors print; their probabilities have two digits, hence the .02."""
    samples = pl.read_csv(ROOT / "resources" / "published" / "hagstrom2025_samples.csv")
    sides = [
        samples.select(f"p_{word}{end}" for word in ("true", "none", "false")).to_numpy() for end in ("", "_evidence")
    ]
    assert samples.height == 36
    assert acu(*sides, stances=samples["stance"].to_list()) == pytest.approx(samples["acu"].to_numpy(), abs=0.02)


CONFLICTS = {
    ("supports", "True"): False, ("supports", "False"): True, ("supports", "None"): False,
    ("refutes", "True"): True, ("refutes", "False"): False, ("refutes", "None"): False,
    ("insufficient-supports", "False"): True, ("insufficient-supports", "True"): False,
    ("insufficient-refutes", "True"): True, ("insufficient-refutes", "False"): False,
    ("insufficient-neutral", "True"): False, ("insufficient-contradictory", "False"): False,
    ("not_applicable", "True"): None, ("not_applicable", "None"): None,
}  # fmt: skip


def test_conflicts_with_what_the_model_said() -> None:
    """The cases follow the definition in the authors' notebook."""
    assert {case: contradicts(*case) for case in CONFLICTS} == CONFLICTS
