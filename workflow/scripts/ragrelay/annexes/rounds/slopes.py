"""Estimate relay at each step of a search: does a better list immediately lead to a better answer?"""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragrelay.analysis import relay
from ragrelay.analysis.multiplicity import ALPHA
from ragrelay.base.vocabulary.columns import Column, boolean, integer, number

STEP_AT_LEAST = 36
"""Minimum queries whose lists differ for a verdict on a step."""
TABLE: dict[str, Column] = {
    "step": integer("number of the search step, counted from 1; empty in rows for all steps together"),
    "adjusted": boolean("whether the differences in P and in the measure are adjusted for two values: P before the "
                        "step, and the query's mean value of the measure over its lists"),
    "n": integer("number of queries for which the compared lists differ", "queries"),
    "n_eff": relay.TABLE["n_eff"],
    "share_same": number("share of list pairs in which both lists are identical, among pairs with P and the measure "
        "for both lists; all seeds have the same weight", "0 to 1"),
    "slope": number("slope of the regression of the difference in P on the difference in the measure, between two "
                    "lists that follow the same earlier rounds; both differences are centred over the step's queries",
                    relay.UNIT),
    "low": number("lower end of the interval at `level`", relay.UNIT),
    "high": number("upper end of the interval at `level`", relay.UNIT),
    "level": number("confidence level of the interval: 95% for all steps together; 1 − 5%/m for one of m steps, so "
        "that the intervals of all steps hold jointly", "0 to 1"),
    "p_value": relay.TABLE["p_value"],
    "verdict": relay.TABLE["verdict"],
    "reason": relay.TABLE["reason"],
}  # fmt: skip
"""Columns of the rows that round_slopes returns."""


def round_slopes(steps: Mapping[int, Sequence[relay.Cell]]) -> list[dict[str, object]]:
    """For lists that follow the same earlier rounds, regress differences in P on differences in the measure.

    For each pair of lists, the differences in P and in the measure are centred over the step's queries. For adjusted
    rows, both are replaced by residuals of regressions on P before the step and on the lists' mean measure. Differences
    must not be centred within a query over steps: the next query's text depends on the previous answer, so later lists
    depend on that answer's noise. Pairs of identical lists are left out; other pairs with equal measures are used,
    because they help to estimate the mean difference. Each query's products of differences are averaged over seeds; for
    the rows on all steps, they are also summed over steps. The unit of analysis is the query (or cluster).

    Tests, intervals and minimum numbers of queries are the same as in relay. With a single step and seed, the results
    are identical to relay's. A step gets a verdict only if lists differ for at least STEP_AT_LEAST queries.

    Args:
        steps: Each step's cells (one per seed), with P before the step (``p0``) and P after the step (``p``).

    Returns:
        Unadjusted and adjusted rows (columns TABLE) per step, then for all steps; empty if there is only one list.
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
    """Yield the sums of each seed's pairs, divided by the number of seeds; none if there is no P to adjust for."""
    if adjusted and not any(np.isfinite(cell.p0).any() for cell in cells):
        return
    seeds = len(cells)
    for cell in cells:
        for _, pair in relay.pair_sums(cell, adjusted):
            yield pair._replace(products=pair.products / seeds, same=pair.same / seeds, compared=pair.compared / seeds)


def _row(
    step: int | None, adjusted: bool, of_steps: Sequence[Sequence[relay.Sums]], level: float, least: int
) -> dict[str, object]:
    """Build a row from the pairs of all steps in ``of_steps``; it has no numbers if a step has no pairs."""
    names = {"step": step, "adjusted": adjusted, "level": level}
    pairs = itertools.chain.from_iterable(of_steps)
    found = relay.slope(relay.all_pairs(pairs), level, least) if all(of_steps) else relay.UNADJUSTED
    return {name: (names | found).get(name) for name in TABLE}
