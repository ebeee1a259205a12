"""Measure how similarly two scores rank systems, using Kendall's tau-b and tau_AP with jackknife intervals."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from ragrelay.analysis.bootstrap import jackknife_error
from ragrelay.analysis.coefficients import ROUNDING, Array, kendall_left_out

AT_LEAST = 16
"""Minimum number of systems: with 12, intervals for tau are up to 1.1 wide, with 8 up to 1.4
(benchmarks/judge_intervals.py)."""
DECIMALS = 10
"""Significant digits of means; later digits of equal means may differ, because their sums are rounded."""


class Order(NamedTuple):
    """Two functions that compute a rank coefficient from columns (n,): with all rows, and without each row in turn."""

    value: Callable[[Array, Array], float]
    left_out: Callable[[Array, Array], Array]


class Families(NamedTuple):
    """Each system's family number (n,); a family groups related systems, such as those with the same retriever."""

    of: npt.NDArray[np.intp]
    noun: str
    """What messages call the families, a plural noun."""

    @property
    def number(self) -> int:
        """The number of families."""
        return int(self.of.max()) + 1 if len(self.of) else 0


def kendall_tau(x: Array, y: Array) -> float:
    """Compute Kendall's tau-b of two columns (n,), or NaN if either is constant."""
    above = np.triu_indices(len(x), 1)
    a, b = (np.sign(column[:, None] - column)[above] for column in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def tau_ap(truth: Array, estimated: Array) -> float:
    """Compute tau_AP (Yilmaz, Aslam and Robertson, SIGIR 2008) of two columns (n,), or NaN if either is constant.

    Disagreements near the top of the ranking carry more weight. Let C(i) be the number of systems that both
    ``estimated`` and ``truth`` place above the system that ``estimated`` puts at rank i. tau_AP is 2 m - 1, where m is
    the mean of C(i) / (i - 1) over ranks i from 2 to n. For ties in ``estimated``, the result is the mean over all
    orders of the tied systems; a pair tied in ``truth`` counts as half an agreement.
    """
    n = len(truth)
    if n < 2 or np.ptp(truth) == 0 or np.ptp(estimated) == 0:
        return float("nan")
    above = estimated[:, None] > estimated  # [j, i]: j stands above i
    agreed = (np.sign(truth[:, None] - truth) + 1.0) / 2.0
    better, correct = above.sum(axis=0), (above * agreed).sum(axis=0)
    equal = (estimated[:, None] == estimated).sum(axis=0)
    mates = np.arange(equal.max())
    before = better[:, None] + mates
    shares = np.divide(correct[:, None] + mates / 2.0, before, out=np.zeros(before.shape), where=before > 0)
    total = (np.where(mates < equal[:, None], shares, 0.0).sum(axis=1) / equal).sum()
    return float(2.0 * total / (n - 1) - 1.0)


def _tau_ap_left_out(truth: Array, estimated: Array) -> Array:
    return np.array([tau_ap(np.delete(truth, place), np.delete(estimated, place)) for place in range(len(truth))])


TAU, TAU_AP = Order(kendall_tau, kendall_left_out), Order(tau_ap, _tau_ap_left_out)


def order_agreement(
    x: Array, y: Array, order: Order, noun: str, at_least: int = AT_LEAST, families: Families | None = None
) -> dict[str, object]:
    """Compute a rank coefficient for two columns of systems' means (n,), with a 95% interval.

    The interval is computed for the coefficient's arcsine, whose spread depends less on the coefficient's value. The
    interval uses Student's t with the jackknife error over systems (Tukey 1958) and n - 1 degrees of freedom. ``noun``:
    the word for a system, used in messages. Each of the ``families`` counts as one system.
    """
    value = order.value(x, y)
    if not np.isfinite(value):
        return {"reason": f"the {noun}s have equal means"}
    row: dict[str, object] = {"value": value}
    units, count = (f"{noun}s", len(x)) if families is None else (families.noun, families.number)
    if count < at_least:
        return row | {"reason": f"fewer than {at_least} {units}"}
    left_out = _left_out(order, x, y, families)
    if not np.isfinite(left_out).all():
        return row | {"reason": f"if some {noun}s are left out, the others have equal means"}
    error = jackknife_error(np.arcsin(np.clip(left_out, -1.0, 1.0)))
    if 1.0 - abs(value) < ROUNDING or not error > ROUNDING:
        return row | {"reason": f"leaving out a {noun} never changes the value"}
    reach = float(special.stdtrit(count - 1, 0.975)) * error
    low, high = (float(np.sin(np.clip(np.arcsin(value) + end, -np.pi / 2, np.pi / 2))) for end in (-reach, reach))
    return row | {"low": low, "high": high, "method": f"jackknife over {units} on the arcsine, Student's t"}


def order_difference(
    people: Array, one: Array, other: Array, order: Order, at_least: int = AT_LEAST, families: Families | None = None
) -> dict[str, object]:
    """Compare how well the scores ``one`` and ``other`` agree with ``people`` on the order of systems (n,).

    ``difference`` is the agreement of ``one`` minus the agreement of ``other``. The interval and p-value (null
    hypothesis: 0) use Student's t with the jackknife error over systems, or over ``families`` if given.
    """
    values = [order.value(people, scores) for scores in (one, other)]
    if not np.isfinite(values).all():
        return {"reason": "the systems have equal means"}
    row: dict[str, Any] = {"difference": values[0] - values[1]}
    units, count = ("systems", len(people)) if families is None else (families.noun, families.number)
    if count < at_least:
        return row | {"reason": f"fewer than {at_least} {units}"}
    left_out = _left_out(order, people, one, families) - _left_out(order, people, other, families)
    if not np.isfinite(left_out).all():
        return row | {"reason": "if some systems are left out, the others have equal means"}
    error = jackknife_error(left_out)
    if not error > ROUNDING:
        return row | {"reason": "leaving out a system never changes the difference"}
    reach = float(special.stdtrit(count - 1, 0.975)) * error
    return row | {
        "low": row["difference"] - reach,
        "high": row["difference"] + reach,
        "p_value": float(2.0 * special.stdtr(count - 1, -abs(row["difference"]) / error)),
        "method": f"jackknife over {units}, Student's t",
    }


def _left_out(order: Order, x: Array, y: Array, families: Families | None) -> Array:
    if families is None or families.number == len(x):
        return order.left_out(x, y)
    kept = [families.of != one for one in range(families.number)]
    return np.array([order.value(x[rest], y[rest]) for rest in kept])
