"""Compute a battle's tables for a dataset and generator."""

from collections.abc import Mapping

import polars as pl

from ragrelay.annexes.battles import wins
from ragrelay.annexes.battles.strengths import STRENGTH_COLUMNS, strength_rows
from ragrelay.base.vocabulary.columns import Columns, schema_of, text

NAMES = {name: text(f"name of the {name} in the configuration") for name in ("dataset", "battle", "generator")}
WINS = {**NAMES, **wins.WIN_COLUMNS}
"""Columns of wins.csv."""
STRENGTHS = {**NAMES, **STRENGTH_COLUMNS}
"""Columns of strengths.csv."""
RELAY = {**NAMES, **wins.RELAY_COLUMNS}
"""Columns of relay.csv."""
FOLLOWS = {**NAMES, **wins.FOLLOW_COLUMNS}
"""Columns of agreement.csv."""
JUDGES = {**NAMES, **wins.JUDGE_COLUMNS}
"""Columns of judges.csv."""


def analyse_battles(
    fight: wins.Fight,
    measures: pl.DataFrame,
    contexts: pl.DataFrame,
    measure: str,
    utility: Mapping[str, pl.DataFrame],
    names: Mapping[str, str],
) -> dict[str, pl.DataFrame]:
    """Compute all tables of a battle for a dataset and generator.

    Args:
        fight: The battle.
        measures: The measure's values (columns retriever, qid, k and value).
        contexts: The retrievers' contexts (columns retriever, ordering, k, qid and docnos).
        measure: The measure's name.
        utility: Tables of P, keyed by scorer (columns retriever, ordering, k, references, qid and p).
        names: The values of dataset, battle and generator, which are added to every row.

    Returns:
        The battle's tables, keyed by name.
    """
    rows = {
        "battle_wins": (WINS, wins.win_rows(fight)),
        "battle_strengths": (STRENGTHS, strength_rows(fight)),
        "battle_relay": (RELAY, wins.relay_rows(fight, measures, contexts, measure)),
        "battle_agreement": (
            FOLLOWS,
            (row for scorer, table in utility.items() for row in wins.follow_rows(fight, scorer, table)),
        ),
        "battle_judges": (JUDGES, wins.judge_rows(fight)),
    }
    return {name: _table(columns, [{**names, **row} for row in found]) for name, (columns, found) in rows.items()}


def _table(columns: Columns, rows: list[dict[str, object]]) -> pl.DataFrame:
    kept = [{name: row.get(name) for name in columns} for row in rows]
    return pl.DataFrame(kept, schema=schema_of(columns), orient="row")
