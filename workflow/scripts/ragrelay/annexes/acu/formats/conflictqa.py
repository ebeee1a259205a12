"""Recast ConflictQA records as claims with evidence."""

import logging
from pathlib import Path

from ragrelay.annexes.acu.claims import Records, json_records
from ragrelay.annexes.acu.source import STATEMENTS, RivalStatements, recast
from ragrelay.base.errors import InputError

log = logging.getLogger(__name__)
CLAIMS = {"known": "memory_answer", "other": "counter_answer"}
EVIDENCE = {"known": "parametric_memory_aligned_evidence", "other": "counter_memory_aligned_evidence"}


class Conflictqa(RivalStatements):
    """for records of ConflictQA (Xie et al., ICLR 2024), recast as claims."""

    def recast(self, path: Path, rivals: bool) -> Records:
        """Recast JSON lines as claims. A line contains a model's answer from memory, with evidence for and against it.

        The claim is ``memory_answer``; ``parametric_memory_aligned_evidence`` supports it and
        ``counter_memory_aligned_evidence`` refutes it. With ``rivals``, ``counter_answer`` is also used as a claim. A
        claim is true if it contains an answer from ``ground_truth``. As in the paper, records without a
        ``memory_answer`` are left out; the number of such records is logged.
        """
        claimed = STATEMENTS if rivals else STATEMENTS[:1]
        empty = 0
        for place, record in json_records(path):
            if record.get(CLAIMS["known"]) is None or not str(record[CLAIMS["known"]]).strip():
                empty += 1
                continue
            names = [*(CLAIMS[statement] for statement in claimed), *EVIDENCE.values()]
            if missing := [name for name in names if not isinstance(record.get(name), str)]:
                raise InputError(place, f"no text for {', '.join(missing)}", ", ".join(names))
            texts = {statement: record[CLAIMS[statement]].strip() for statement in claimed}
            evidence = {statement: record[name].strip() for statement, name in EVIDENCE.items()}
            truths = record.get("ground_truth")
            verdicts = {
                statement: any(str(truth) in text for truth in truths) if isinstance(truths, list) else None
                for statement, text in texts.items()
            }
            yield from recast(place, place.rpartition(" ")[2], texts, evidence, verdicts, claimed)
        if empty:
            log.warning("%s: left out records without memory_answer: %d", path, empty)
