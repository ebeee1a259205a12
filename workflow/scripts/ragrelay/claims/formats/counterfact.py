"""CounterFact, recast as claims."""

import json
from pathlib import Path
from typing import Any

from ragrelay.claims.claims import Records, json_records
from ragrelay.claims.recasts import four_rows
from ragrelay.claims.source import ClaimFormat
from ragrelay.errors import InputError


class Counterfact(ClaimFormat):
    """records of CounterFact (Meng et al., NeurIPS 2022), recast as claims."""

    def records(self, path: Path) -> Records:
        """A JSON list, or JSON lines, of facts with a false one in their place.

        Of each ``requested_rewrite`` (prompt with {}, subject, target_true and target_new with a ``str``) two
        statements are made, true and new. Each is the claim of two rows, with itself and with the other as evidence.
        """
        for place, record in _listed(path):
            rewrite = record.get("requested_rewrite")
            try:
                prompt, subject = rewrite["prompt"], rewrite["subject"]  # type: ignore[index]
                known, other = rewrite["target_true"]["str"], rewrite["target_new"]["str"]  # type: ignore[index]
                start = prompt.replace("{}", subject)
                texts = {"known": f"{start} {known.strip()}.", "other": f"{start} {other.strip()}."}
            except (KeyError, TypeError, AttributeError):
                expected = "requested_rewrite with prompt, subject, target_true.str and target_new.str"
                raise InputError(place, "another record", expected) from None
            yield from four_rows(place, str(record.get("case_id", place.rpartition(" ")[2])), texts, texts)


def _listed(path: Path) -> Records:
    """The objects of a JSON list, or of JSON lines by the file's ending."""
    if path.suffix == ".jsonl":
        yield from json_records(path)
        return
    if not path.is_file():
        raise InputError(path, "no such file", "a JSON list")
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(path, f"invalid JSON ({error})", "a JSON list") from None
    if not isinstance(found, list) or not all(isinstance(record, dict) for record in found):
        raise InputError(path, "something else", "a JSON list of objects")
    for number, record in enumerate(found, start=1):
        yield f"{path}, record {number}", record
