"""A small claims study with made-up likelihoods, for the tests of its tables and its page."""

import math
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.annexes.acu.claims import claims_frame
from ragrelay.annexes.acu.correlations import acu_correlations
from ragrelay.annexes.acu.datasets import characteristic_means, composition
from ragrelay.annexes.acu.pairs import compute_acu
from ragrelay.annexes.acu.requests import KEYS
from ragrelay.annexes.acu.stances import STANCES, WORDS
from ragrelay.annexes.acu.study import ClaimsStudy
from ragrelay.annexes.acu.usage import usage
from ragrelay.generation.likelihoods.continuations import continuation_id
from ragrelay.generation.likelihoods.store import LikelihoodStore

TOKENS = {"True": [1, 2], "None": [3], "False": [4]}
UNIT = {"claims": "mine", "generator": "lm", "template": "plain"}


def claims_of(stances: list[str], per_claim: int = 1) -> pl.DataFrame:
    rows = [
        ("row", {"id": f"r{i}", "claim": f"claim {i // per_claim}", "evidence": f"text {i}", "evidence_stance": stance})
        for i, stance in enumerate(stances)
    ]
    return claims_frame(iter(rows), "rows")


def stored(
    folder: Path, claims: pl.DataFrame, without: list[tuple[float, ...]], given: list[tuple[float, ...]]
) -> tuple[pl.DataFrame, LikelihoodStore]:
    """Keys and a store whose likelihoods give the probabilities of True, None and False, per row of ``claims``.

    A word's probability is shared by its tokens one to three; the evidence has 4 tokens of -0.5 nats each.
    """
    store, keys, rows = LikelihoodStore(folder, "f"), [], {}
    for place, (name, claim) in enumerate(claims.select("id", "claim_id").iter_rows()):
        for side, prompt, values in ((False, claim, without[place]), (True, name, given[place])):
            for word, p in zip(WORDS, values, strict=True):
                ids = TOKENS[word]
                for token in ids:
                    part = p if len(ids) == 1 else p * (0.25 if token == 1 else 0.75)
                    keys.append(("plain", name, side, word, prompt, continuation_id([token])))
                    rows[keys[-1][4:]] = (1, math.log(part) if part else -math.inf)
        keys.append((None, name, True, None, "", continuation_id([9, place])))
        rows[keys[-1][4:]] = (4, -2.0)
    store.append(
        [dict(zip(store.schema, (*key, *values), strict=True)) for key, values in rows.items()], {"engine": "fake"}
    )
    return pl.DataFrame(keys, schema=KEYS, orient="row"), store


def study_of(folder: Path, per_stance: int = 6) -> ClaimsStudy:
    """A claims study over all stances whose evidence moves True up, more so for longer evidence."""
    claims = claims_of(list(STANCES) * per_stance, per_claim=3)
    n = claims.height
    without = [(0.3 + 0.001 * (i // 3), 0.2, 0.4) for i in range(n)]
    given = [(0.5 + 0.4 * i / n, 0.1, 0.3 - 0.2 * i / n) for i in range(n)]
    keys, store = stored(folder, claims, without, given)
    described = characteristic_columns(n)
    pairs = compute_acu(claims, keys, "plain", store, store).with_columns(
        **{name: pl.lit(value) for name, value in UNIT.items()}, **described
    )
    sets = {"mine": claims}
    characteristics = {"mine": claims.select("id").with_columns(**described)}
    words = {word: [{"id": ids[0], "text": f" {word}", "whole": word != "None"}] for word, ids in TOKENS.items()}
    receipt: dict[str, Any] = {"words": words, "engines": ["vllm 1 on cpu"], "fingerprint": "f"}
    tables = (
        usage(pairs, 200, 0),
        acu_correlations(pairs, 200, 0),
        composition(sets),
        characteristic_means(sets, characteristics, pairs, 200, 0),
    )
    return ClaimsStudy(*tables, {("mine", "lm"): receipt}, {"mine": "capitalised"})


def characteristic_columns(n: int) -> dict[str, pl.Series]:
    """Made-up characteristics: one that grows, one that is constant, one that nobody knows, the rest at chance."""
    from ragrelay.annexes.acu.characteristic_columns import OF_MODELS, SCHEMA

    columns = {
        name: pl.Series([(7 * i + place) % 5 for i in range(n)]).cast(kind)
        for place, (name, kind) in enumerate(SCHEMA.items())
        if name not in ("id", *OF_MODELS)
    }
    return columns | {
        "evidence_length": pl.Series(range(n)),
        "claim_length": pl.Series([3] * n),
        "is_gold": pl.Series([None] * n, dtype=pl.Boolean),
    }
