"""Estimate relay at each step of a search: does a better list make a better answer at once?"""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragrelay.analysis import relay
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.base.vocabulary.columns import Column, boolean, integer, number

STEP_AT_LEAST = 36
"""Queries whose lists differ that a step's verdict needs."""
TABLE: dict[str, Column] = {
    "step": integer("the search's step, from 1; empty for all steps together"),
    "adjusted": boolean("whether both differences are adjusted for the query's mean measure over the lists and for P "
                        "before the step"),
    "n": integer("queries whose lists differ", "queries"),
    "n_eff": relay.TABLE["n_eff"],
    "share_same": number("share of pairs with equal lists, among pairs with P and a measure for both lists; each seed "
        "has the same weight", "0 to 1"),
    "slope": number("how much the difference in P grows per unit of difference in the measure, between two lists at "
        "the same state; both differences are centred over the step's queries", relay.UNIT),
    "low": number("lower end of the interval at `level`", relay.UNIT),
    "high": number("upper end of the interval at `level`", relay.UNIT),
    "level": number("95% for all steps together; 1 − 5% / steps for a single step, so that the steps' intervals hold "
        "jointly",
                    "0 to 1"),
    "p_value": relay.TABLE["p_value"],
    "verdict": relay.TABLE["verdict"],
    "reason": relay.TABLE["reason"],
}  # fmt: skip
"""Columns of a row."""


def round_slopes(steps: Mapping[int, Sequence[relay.Cell]]) -> list[dict[str, object]]:
    """Regress P's difference on the measure's between lists at the same state, per step and over all steps.

    A step's products are relay's: x and P of a pair of lists, each less its mean over the step's queries, or residuals
    on the mean measure over the lists and P before the step. Never centre them within a query over steps: the next
    query text follows from the answer before, so that later lists depend on that answer's noise. Pairs of equal lists
    are left out; other pairs with equal measures stay, since they estimate by how much a list leads. A query's products
    are averaged over seeds and, in the rows without a step, added over steps. The unit is the query, however many steps
    it has, or its cluster where queries have clusters.

    Tests, intervals and limits are relay's; with a single step and seed, all numbers equal relay's. A step's verdict
    needs STEP_AT_LEAST queries that differ.

    Args:
        steps: The cells of each step: a cell per seed, or a single cell if the lists don't depend on the seed. All
            have the same queries in the same order. ``x`` is the measure over the newly shown passages, ``p`` is P
            after them, ``mean_x`` the query's mean of ``x`` over the lists, ``p0`` its P before the step.

    Returns:
        Rows with the columns ``TABLE``: as measured and adjusted for each step, then for all. None with a single list.
    """
    if not steps or any(len(cell.x) < 2 for cells in steps.values() for cell in cells):
        return []
    rows = []
    together: dict[bool, list[list[relay.Sums]]] = {False: [], True: []}
    for step, cells in steps.items():
        for adjusted, of_steps in together.items():
            of_steps.append(list(_pairs(cells, adjusted)))
            rows.append(_row(step, adjusted, of_steps[-1:], 1 - ALPHA / len(steps), STEP_AT_LEAST))
    for adjusted, of_steps in together.items():
        rows.append(_row(None, adjusted, of_steps, 1 - ALPHA, relay.DIFFERING_AT_LEAST))
    return rows


def _pairs(cells: Sequence[relay.Cell], adjusted: bool) -> Iterator[relay.Sums]:
    """Yield the sums of each seed's pairs, over the number of seeds; none where there is no P to adjust for."""
    if adjusted and not any(np.isfinite(cell.p0).any() for cell in cells):
        return
    seeds = len(cells)
    for cell in cells:
        for _, pair in relay.pair_sums(cell, adjusted):
            yield pair._replace(products=pair.products / seeds, same=pair.same / seeds, compared=pair.compared / seeds)


def _row(
    step: int | None, adjusted: bool, of_steps: Sequence[Sequence[relay.Sums]], level: float, least: int
) -> dict[str, object]:
    """Add up the pairs ``of_steps``; the row has no numbers if a step has no pairs."""
    names = {"step": step, "adjusted": adjusted, "level": level}
    pairs = itertools.chain.from_iterable(of_steps)
    found = relay.slope(relay.all_pairs(pairs), level, least) if all(of_steps) else relay.UNADJUSTED
    return {name: (names | found).get(name) for name in TABLE}
