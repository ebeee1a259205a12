"""Recast CounterFact records as claims with evidence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragrelay.annexes.acu.claims import Records, json_records
from ragrelay.annexes.acu.source import STATEMENTS, RivalStatements, recast
from ragrelay.base.errors import InputError
from ragrelay.base.io.json_values import FAULTS, json_fault


class Counterfact(RivalStatements):
    """for records of CounterFact (Meng et al., NeurIPS 2022; sample by Ortu et al., ACL 2024), recast as claims."""

    def recast(self, path: Path, rivals: bool) -> Records:
        """Recast facts from a JSON list or JSON lines as claims; each record has a true and a false statement.

        A record contains either ``requested_rewrite`` (with the keys prompt, subject, target_true and target_new) or
        ``base_prompt``, ``target_true`` and ``target_new``. The claim is the false statement, paired once with itself
        and once with the true statement as evidence. With ``rivals``, the true statement is also used as a claim.
        """
        for place, record in _listed(path):
            try:
                start, known, other = _parts(record)
            except (KeyError, TypeError, AttributeError):
                expected = (
                    "requested_rewrite with prompt, subject, target_true.str and target_new.str, or base_prompt, "
                    "target_true and target_new"
                )
                raise InputError(place, "a record in another format", expected) from None
            texts = {"known": f"{start} {known}.", "other": f"{start} {other}."}
            name = str(record.get("case_id", place.rpartition(" ")[2]))
            verdicts = {"known": True, "other": False}
            yield from recast(place, name, texts, texts, verdicts, STATEMENTS if rivals else STATEMENTS[1:])


def _parts(record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the statement's beginning, its true ending and its false ending."""
    if "base_prompt" in record:
        start, known, other = record["base_prompt"], record["target_true"], record["target_new"]
    else:
        rewrite = record["requested_rewrite"]
        start = rewrite["prompt"].replace("{}", rewrite["subject"])
        known, other = rewrite["target_true"]["str"], rewrite["target_new"]["str"]
    return start.strip(), known.strip(), other.strip()


def _listed(path: Path) -> Records:
    """Yield the objects of JSON lines (by the file's ending) or a JSON list."""
    if path.suffix == ".jsonl":
        yield from json_records(path)
        return
    if not path.is_file():
        raise InputError(path, "no such file", "a JSON list")
    try:
        records: object = json.loads(path.read_text(encoding="utf-8"))
    except FAULTS as error:
        raise InputError(path, json_fault(error), "a JSON list") from None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError(path, "other JSON", "a JSON list of objects")
    for number, record in enumerate(records, start=1):
        yield f"{path}, record {number}", record
