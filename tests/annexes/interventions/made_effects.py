"""Scores of changed contexts with known effects, and the study that the page shows of them."""

from typing import Any

import numpy as np
import polars as pl
from ragrelay.analysis import relay
from ragrelay.annexes.interventions.contexts import SCHEMA as CONTEXTS
from ragrelay.annexes.interventions.effects import COLUMNS, intervention_effects
from ragrelay.annexes.interventions.scores import SCHEMA as SCORES
from ragrelay.annexes.interventions.study import EffectStudy
from ragrelay.base.vocabulary.columns import schema_of

DEFINITIONS: dict[str, dict[str, Any]] = {
    "swap": {"kind": "swap", "retrievers": ["bm25"]},
    "without": {"kind": "leave_out", "retrievers": ["bm25"]},
    "twice": {"kind": "duplicate", "retrievers": ["bm25"]},
}
KEYS = {"dataset": "demo", "generator": "demo-lm", "scorer": "minilm"}
RELAY = [("descending", k, "lenient", "nDCG", 0.2, 0.1, 0.3) for k in (1, 3)]
ASKED = {name: {"kind": one["kind"], "retrievers": ["bm25"], "k": [1, 3]} for name, one in DEFINITIONS.items()}


def made(n: int = 20, worth: float = 0.06, noise: float = 0.03, ks: tuple[int, ...] = (1, 3), falls: float = 0.0,
         sets: tuple[str, ...] = ("lenient", "lenient-unseen")) -> tuple[pl.DataFrame, pl.DataFrame]:  # fmt: skip
    """Scores (SCORES) and changed contexts (CONTEXTS) of ``n`` queries: a relevant passage is worth ``worth`` in P.

    At the first of three places it is worth ``falls`` more. Any exchange costs .03. A context's own passages have
    another place in each query.
    """
    random, rows, contexts = np.random.default_rng(n), [], []

    def add(name: str, k: int, qid: str, place: int, arm: str, p: float, value: float | None) -> None:
        contexts.append((name, k, qid, 0, place, arm, None, None, [], value))
        for references in sets:
            less = 0.0 if references == "lenient" else worth / 2 * (arm == "relevant")
            rows.append((references, name, k, qid, 0, place, arm, p - less, 1))

    for query in range(n):
        qid, base = f"q{query:02}", 0.5 + 0.1 * random.standard_normal()
        for k in ks:
            for place in range(1, k + 1):
                for arm in ("relevant", "other"):
                    gain = (worth + falls * (place == 1 and k > 1)) * (arm == "relevant")
                    p = base - 0.03 + gain + noise * random.standard_normal()
                    add("swap", k, qid, place, arm, p, 0.2 + 0.3 * (arm == "relevant"))
            if k > 1 and query % 4:
                for name, sign in (("without", -1), ("twice", 1)):
                    add(name, k, qid, 0, "unchanged", base, 0.5 if name == "without" else None)
                    arms = ("relevant", "other", "between")
                    for place, arm in enumerate(arms[query % 3 :] + arms[: query % 3], 1):
                        p = base + sign * worth * (arm == "relevant") - 0.03 + noise * random.standard_normal()
                        add(name, k, qid, place, arm, p, 0.5 - 0.3 * (arm == "relevant") if name == "without" else None)
    return pl.DataFrame(rows, schema=SCORES, orient="row"), pl.DataFrame(contexts, schema=CONTEXTS, orient="row")


def relay_table(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """relay.csv with these slopes over all rankings."""
    schema = schema_of(relay.COLUMNS)
    names = ("ordering", "k", "references", "measure", "slope", "low", "high")
    given = [
        dict.fromkeys(schema)
        | {"retrievers": relay.ALL_RANKINGS, "adjusted": adjusted, **dict(zip(names, row, strict=True))}
        for row in rows
        for adjusted in (False, True)
    ]
    return pl.DataFrame(given, schema=schema)


def effects_of(
    tables: tuple[pl.DataFrame, pl.DataFrame], n_queries: int = 24, clusters: dict[str, int] | None = None,
    definitions: dict[str, dict[str, Any]] | None = None, slopes: list[tuple[Any, ...]] | None = None,
) -> pl.DataFrame:  # fmt: skip
    scores, contexts = tables
    return intervention_effects(
        {"bm25": scores}, {"bm25": contexts}, definitions or DEFINITIONS,
        relay_table(RELAY if slopes is None else slopes), [f"q{place:02}" for place in range(n_queries)],
        ["lenient", "strict"], ["descending"], "nDCG", 0.02, clusters,
    )  # fmt: skip


def study_of(effects: pl.DataFrame, **keys: str) -> EffectStudy:
    named = {**KEYS, **keys}
    whole = effects.with_columns(pl.lit(value).alias(name) for name, value in named.items())
    asked = {name: ASKED[name] for name in whole["intervention"].unique(maintain_order=True)}
    return EffectStudy(named, {"intervention_effects": whole.select(*schema_of(COLUMNS))}, asked or ASKED)
