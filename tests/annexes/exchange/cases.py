"""Cases of the exchange with other programs for shared tables (tests.support.annex_cases)."""

import json
from pathlib import Path

CEILING = {"annex exchange": 850}  # tests of it that the core had
TARGETS = dict.fromkeys(("exported", "processed"), "export")


def check_added_question(results: Path, table: str, expected: str) -> None:
    """The crate describes a question's table."""
    crate = json.loads((results / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    assert {one["@id"]: one.get("description") for one in crate["@graph"]}[table] == expected
