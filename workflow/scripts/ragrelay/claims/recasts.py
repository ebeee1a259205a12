"""Other data sets of conflicts with what a model knows, recast as claims with evidence."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragrelay.claims.claims import Records, file_records, json_records
from ragrelay.errors import InputError

PAIRS = (("known", "known", "supports"), ("known", "other", "refutes"), ("other", "known", "refutes"),
         ("other", "other", "supports"))  # fmt: skip
"""Whose statement is the claim, whose text is the evidence, and the stance that follows."""


def counterfact_records(path: Path) -> Records:
    """CounterFact (Meng et al., NeurIPS 2022): a JSON list, or JSON lines, of facts with a false one in their place.

    Of each ``requested_rewrite`` (prompt with {}, subject, target_true and target_new with a ``str``) two statements
    are made, true and new. Each is the claim of two rows, with itself and with the other as evidence.
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
        yield from _four(place, str(record.get("case_id", place.rpartition(" ")[2])), texts, texts)


def conflictqa_records(path: Path) -> Records:
    """ConflictQA (Xie et al., ICLR 2024): JSON lines of what a model remembered and a counter-memory.

    The claims are ``memory_answer`` and ``counter_answer``, which are sentences; the evidence ``parametric_memory`` and
    ``counter_memory``.
    """
    for place, record in json_records(path):
        names = ("memory_answer", "counter_answer", "parametric_memory", "counter_memory")
        missing = [name for name in names if not isinstance(record.get(name), str)]
        if missing:
            raise InputError(place, f"no text for {', '.join(missing)}", ", ".join(names))
        answers = {"known": record["memory_answer"], "other": record["counter_answer"]}
        memories = {"known": record["parametric_memory"], "other": record["counter_memory"]}
        yield from _four(place, place.rpartition(" ")[2], answers, memories)


FORMATS: dict[str, Callable[[Path], Records]] = {
    "druid": file_records,
    "counterfact": counterfact_records,
    "conflictqa": conflictqa_records,
}


def _four(place: str, name: str, claims: Mapping[str, str], evidence: Mapping[str, str]) -> Records:
    for claimed, shown, stance in PAIRS:
        row = {"id": f"{name}-{claimed}-{shown}", "claim_id": f"{name}-{claimed}", "claim": claims[claimed]}
        yield place, {**row, "evidence": evidence[shown], "evidence_stance": stance}


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
