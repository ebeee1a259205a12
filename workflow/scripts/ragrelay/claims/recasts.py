"""What is common to data sets of conflicts with what a model knows, which are recast as claims with evidence."""

from collections.abc import Mapping

from ragrelay.claims.claims import Records

STATEMENTS = ("known", "other")
"""The statement that the data set treats as known (true, or remembered by a model), and its rival."""


def recast(
    place: str,
    name: str,
    claims: Mapping[str, str],
    evidence: Mapping[str, str],
    verdicts: Mapping[str, bool | None],
    claimed: tuple[str, ...],
) -> Records:
    """Two rows for each of ``claimed``, names of STATEMENTS: its claim with the evidence for it, and with the rival's.

    ``claims``, ``evidence`` and ``verdicts`` (whether the claim is true; None where that is unknown) are of each
    statement; ``name`` begins the ids.

    Source: the scripts ``src/recast`` of Hagström et al., ACL 2025, for the two rows of one claim.
    """
    for statement in claimed:
        verdict = verdicts[statement]
        row = {"claim_id": f"{name}-{statement}", "claim": claims[statement], "relevant": True,
               "factcheck_verdict": None if verdict is None else str(verdict)}  # fmt: skip
        for shown in STATEMENTS:
            stance = "supports" if shown == statement else "refutes"
            yield place, {**row, "id": f"{name}-{statement}-{shown}", "evidence": evidence[shown],
                          "evidence_stance": stance}  # fmt: skip
