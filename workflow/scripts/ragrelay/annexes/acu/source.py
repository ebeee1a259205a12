"""Base classes for sources of claims and for file formats of claims."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragrelay.base.kinds import Kind, Kinds

if TYPE_CHECKING:
    import polars as pl

    from ragrelay.annexes.acu.claims import Records

STATEMENTS = ("known", "other")
"""The two statements in each record: the known one (true, or remembered by a model) and its rival."""


class ClaimSource(Kind):
    """Base class for sources of claims with evidence."""

    def records(self) -> "Records":
        """Read the rows.

        Returns:
            Each row's place (file and line, for error messages) and content, as pairs.

        Raises:
            InputError: The source can't be read.
        """
        raise NotImplementedError

    def origin(self) -> str:
        """Return the name of the file or data set that the claims come from, for error messages.

        Returns:
            The name.
        """
        raise NotImplementedError

    def files(self) -> list[str]:
        """List the user's files that the source reads.

        Returns:
            The paths; by default, an empty list.
        """
        return []


class ClaimFormat(Kind):
    """Base class for file formats of claims. Formats have no configuration keys."""

    def records(self, path: Path) -> "Records":
        """Read a file's rows.

        Args:
            path: The file.

        Returns:
            Each row's place (file and line, for error messages) and content, as pairs.

        Raises:
            InputError: The file is not in this format.
        """
        raise NotImplementedError

    def check_path(self, place: str, path: Path) -> None:
        """Check the file's name.

        Args:
            place: The config key, as the start of error messages.
            path: The file, which exists.

        Raises:
            InputError: The format doesn't support this file name.
        """


class RivalStatements(ClaimFormat):
    """A format whose records contain two rival statements, which are recast as claims."""

    def records(self, path: Path) -> "Records":
        """Return rows whose claim is the statement that the paper uses as a claim."""
        return self.recast(path, rivals=False)

    def recast(self, path: Path, rivals: bool) -> "Records":
        """Return rows whose claim is one statement per record or, if ``rivals`` is true, each statement in turn."""
        raise NotImplementedError


CLAIM_KINDS = Kinds(ClaimSource, "ragrelay.annexes.acu.sources", "source")
CLAIM_FORMATS = Kinds(ClaimFormat, "ragrelay.annexes.acu.formats", "format")


def prepare_claims(definition: Mapping[str, object]) -> "pl.DataFrame":
    """Read the claims (columns claims.SCHEMA) described by ``definition``, an entry under the config key ``claims``."""
    from ragrelay.annexes.acu.claims import claims_frame

    source = CLAIM_KINDS.of(definition)
    return claims_frame(source.records(), source.origin())


def recast(
    place: str,
    name: str,
    claims: Mapping[str, str],
    evidence: Mapping[str, str],
    verdicts: Mapping[str, bool | None],
    claimed: tuple[str, ...],
) -> "Records":
    """Yield two rows for each statement in ``claimed``: one with its own evidence, one with the rival's evidence.

    ``claims``, ``evidence`` and ``verdicts`` are keyed by statement; a verdict says whether the claim is true, or is
    None if unknown. Row ids begin with ``name``. Hagström et al., ACL 2025, also recast each claim as two rows.
    """
    for statement in claimed:
        verdict = verdicts[statement]
        row = {"claim_id": f"{name}-{statement}", "claim": claims[statement], "relevant": True,
               "factcheck_verdict": None if verdict is None else str(verdict)}  # fmt: skip
        for shown in STATEMENTS:
            stance = "supports" if shown == statement else "refutes"
            yield place, {**row, "id": f"{name}-{statement}-{shown}", "evidence": evidence[shown],
                          "evidence_stance": stance}  # fmt: skip
