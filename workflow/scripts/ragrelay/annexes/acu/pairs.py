"""Compute probabilities, predictions and ACU for each claim-evidence pair, from stored likelihoods.

ACU (accumulated context usage) is how far evidence moves the label words' probabilities in the direction of the
evidence's stance (Hagström et al., A Reality Check on Context Utilisation for RAG, ACL 2025).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.annexes.acu.claims import with_stance
from ragrelay.annexes.acu.stances import DIRECTIONS, MEANT, WORDS, contradicts
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import boolean, number, schema_of, text
from ragrelay.generation.likelihoods.store import KEY, LikelihoodStore

SIDES = {False: "", True: "_evidence"}
PROBABILITIES = [f"p_{word.lower()}{ending}" for ending in SIDES.values() for word in WORDS]
COLUMNS = {
    "id": text("id of the claim–evidence pair"),
    "claim_id": text("the claim's id"),
    "evidence_stance": text("stance of the evidence"),
    **{f"p_{word.lower()}{ending}": number(f"probability of {word} {said} the evidence", "0 to 1")
       for ending, said in (("", "without"), ("_evidence", "with")) for word in WORDS},
    **{f"change_{word.lower()}": number(f"how far the evidence moves the probability of {word} towards 0 or 1, as a "
        "share of the largest possible move", "−1 to 1")
       for word in WORDS},
    "acu": number("accumulated context usage (ACU)", "−1 to 1"),
    "mass": number("total probability of True, None and False without the evidence", "0 to 1"),
    "mass_evidence": number("total probability of True, None and False with the evidence", "0 to 1"),
    "prediction": text("model's prediction without the evidence: the likeliest of True, None and False"),
    "prediction_evidence": text("model's prediction with the evidence: the likeliest of True, None and False"),
    "memory_conflict": boolean("whether the evidence contradicts the prediction that the model makes without the "
                               "evidence; empty if the stance is `not_applicable`"),
    "switched": boolean("whether the predictions with and without the evidence differ"),
    "followed": boolean("whether the prediction with the evidence is the word that the stance implies"),
    "evidence_perplexity": number("perplexity of the evidence without a prompt; empty if the evidence has no token to "
                                  "score"),
}  # fmt: skip
SCHEMA = schema_of(COLUMNS)
Array = npt.NDArray[np.float64]


def compute_acu(
    claims: pl.DataFrame, keys: pl.DataFrame, template: str, words: LikelihoodStore, texts: LikelihoodStore
) -> pl.DataFrame:
    """Compute ACU (columns SCHEMA) for the rows of ``claims`` that have a stance, from prompts built with ``template``.

    ``keys`` (columns requests.KEYS) maps each claim-evidence pair to its likelihoods in the stores ``words`` and
    ``texts``. Columns whose names begin with ``p_`` contain the probability that the reply starts with a label word's
    first token. ``followed`` says whether the prediction is the word that the stance implies (True for supports, False
    for refutes, None for all other stances). Raises InputError if a likelihood is missing from a store.
    """
    p = _probabilities(keys.filter(template=template), words)
    rows = with_stance(claims).select("id", "claim_id", "evidence_stance")
    rows = rows.join(p, on="id", how="left", maintain_order="left")
    without, with_evidence = (
        rows.select(f"p_{word.lower()}{ending}" for word in WORDS).to_numpy() for ending in SIDES.values()
    )
    changed = change(without, with_evidence)
    predicted, predicted_then = (np.array(WORDS)[values.argmax(axis=1)] for values in (without, with_evidence))
    meant = [MEANT.get(stance) for stance in rows["evidence_stance"]]
    return (
        rows.with_columns(
            *(pl.Series(f"change_{word.lower()}", changed[:, place]) for place, word in enumerate(WORDS)),
            pl.Series("acu", acu(without, with_evidence, rows["evidence_stance"].to_list())),
            pl.Series("mass", without.sum(axis=1)),
            pl.Series("mass_evidence", with_evidence.sum(axis=1)),
            pl.Series("prediction", predicted),
            pl.Series("prediction_evidence", predicted_then),
            pl.Series("memory_conflict", list(map(contradicts, rows["evidence_stance"], predicted)), dtype=pl.Boolean),
            pl.Series("switched", predicted != predicted_then),
            pl.Series("followed", [(word or "None") == new for word, new in zip(meant, predicted_then, strict=True)]),
        )
        .join(_perplexities(keys, texts), on="id", how="left", maintain_order="left")
        .select(*SCHEMA)
    )  # fmt: skip


def _probabilities(keys: pl.DataFrame, store: LikelihoodStore) -> pl.DataFrame:
    """Return id and PROBABILITIES: each word's sum over its tokens, clipped to 1, which rounding may exceed."""
    logprobs = _looked_up(keys, store).with_columns(
        column=pl.lit("p_")
        + pl.col("word").str.to_lowercase()
        + pl.col("evidence").replace_strict(SIDES, return_dtype=pl.String)
    )
    sums = logprobs.group_by("id", "column").agg(p=pl.col("logprob").exp().sort().sum().clip(0.0, 1.0))
    return sums.pivot("column", on_columns=PROBABILITIES, index="id", values="p")


def _perplexities(keys: pl.DataFrame, store: LikelihoodStore) -> pl.DataFrame:
    logprobs = _looked_up(keys.filter(pl.col("template").is_null()), store)
    value = pl.when(pl.col("tokens") > 0).then((-pl.col("logprob") / pl.col("tokens")).exp())
    return logprobs.select("id", evidence_perplexity=value)


def _looked_up(keys: pl.DataFrame, store: LikelihoodStore) -> pl.DataFrame:
    scored = keys.join(store.look_up(keys.select(KEY).unique()), on=KEY, how="left", maintain_order="left")
    if missing := scored["logprob"].null_count():
        expected = "all likelihoods; rerun with --forcerun score_claims"
        raise InputError(store.folder, f"no likelihoods for {missing} of {len(scored)} keys", expected)
    return scored


def change(without: Array, with_evidence: Array) -> Array:
    """Compute ΔP(t), a value between -1 and 1, from probabilities without and with evidence (arrays of equal shape).

    ΔP(t) is the change in probability divided by the largest possible change: (P_E - P) / (1 - P) if P rises, (P_E - P)
    / P if P falls. If P = P_E = 1, the change is 0. Raises ValueError if a probability is outside [0, 1].
    """
    before, after = np.asarray(without, dtype=np.float64), np.asarray(with_evidence, dtype=np.float64)
    for values in (before, after):
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise ValueError("probabilities must be in [0, 1]")
    room = np.where(after >= before, 1.0 - before, before)
    return np.divide(after - before, room, out=np.zeros_like(room), where=room > 0.0)


def acu(without: Array, with_evidence: Array, stances: Sequence[str]) -> Array:
    """Compute ACU (n,) from the probabilities of True, None and False (n, 3) and from the ``stances``.

    ACU is the mean of D(t, S) ΔP(t) over the words t, where D(t, S) is 1 or -1 (see stances.DIRECTIONS). ACU is 1 if
    every probability moves as far as possible in the stance's direction, -1 if every probability moves as far as
    possible against it, and 0 if no probability changes. Raises KeyError if a stance is unknown.
    """
    directions = np.array([DIRECTIONS[stance] for stance in stances], dtype=np.float64).reshape(-1, 3)
    return (directions * change(without, with_evidence)).mean(axis=1)
