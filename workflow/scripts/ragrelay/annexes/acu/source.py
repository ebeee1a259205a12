"""Define the base classes for sources of claims and their file formats."""

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
            The rows, each preceded by its place, for error messages.

        Raises:
            InputError: The rows can't be read.
        """
        raise NotImplementedError

    def origin(self) -> str:
        """Name the place that the claims come from, for error messages.

        Returns:
            The name.
        """
        raise NotImplementedError

    def files(self) -> list[str]:
        """List the user's files that the source reads.

        Returns:
            The paths; empty by default.
        """
        return []


class ClaimFormat(Kind):
    """Base class for formats of claim files. Formats have no configuration keys."""

    def records(self, path: Path) -> "Records":
        """Read a file's rows.

        Args:
            path: The file.

        Returns:
            The rows, each preceded by its place, for error messages.

        Raises:
            InputError: The file is not in this format.
        """
        raise NotImplementedError

    def check_path(self, place: str, path: Path) -> None:
        """Check the file's name.

        Args:
            place: The beginning of error messages, which names the config key.
            path: The file, which exists.

        Raises:
            InputError: The file's name doesn't suit the format.
        """


class RivalStatements(ClaimFormat):
    """A format whose records hold two rival statements, which are recast as claims."""

    def records(self, path: Path) -> "Records":
        """Return the rows for the statement that the paper uses as the claim."""
        return self.recast(path, rivals=False)

    def recast(self, path: Path, rivals: bool) -> "Records":
        """Return the rows with one statement per record as a claim, or with both if ``rivals`` is true."""
        raise NotImplementedError


CLAIM_KINDS = Kinds(ClaimSource, "ragrelay.annexes.acu.sources", "source")
CLAIM_FORMATS = Kinds(ClaimFormat, "ragrelay.annexes.acu.formats", "format")


def prepare_claims(definition: Mapping[str, object]) -> "pl.DataFrame":
    """Return the claims (claims.SCHEMA) of the entry ``definition`` under the config key ``claims``."""
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
    """Yield two rows per statement in ``claimed``: one with the statement's own evidence, one with its rival's.

    ``claims``, ``evidence`` and ``verdicts`` (whether the claim is true; None if unknown) are keyed by statement; ids
    begin with ``name``. The two rows per claim follow the scripts in ``src/recast`` by Hagström et al., ACL 2025.
    """
    for statement in claimed:
        verdict = verdicts[statement]
        row = {"claim_id": f"{name}-{statement}", "claim": claims[statement], "relevant": True,
               "factcheck_verdict": None if verdict is None else str(verdict)}  # fmt: skip
        for shown in STATEMENTS:
            stance = "supports" if shown == statement else "refutes"
            yield place, {**row, "id": f"{name}-{statement}-{shown}", "evidence": evidence[shown],
                          "evidence_stance": stance}  # fmt: skip
