"""What is common to data sets of conflicts with what a model knows, which are recast as claims with evidence."""

from collections.abc import Mapping

from ragrelay.claims.claims import Records

PAIRS = (("known", "known", "supports"), ("known", "other", "refutes"), ("other", "known", "refutes"),
         ("other", "other", "supports"))  # fmt: skip
"""Whose statement is the claim, whose text is the evidence, and the stance that follows."""


def four_rows(place: str, name: str, claims: Mapping[str, str], evidence: Mapping[str, str]) -> Records:
    """Rows of the record at ``place``, one for each of PAIRS; ``name`` begins their ids."""
    for claimed, shown, stance in PAIRS:
        row = {"id": f"{name}-{claimed}-{shown}", "claim_id": f"{name}-{claimed}", "claim": claims[claimed]}
        yield place, {**row, "evidence": evidence[shown], "evidence_stance": stance}
