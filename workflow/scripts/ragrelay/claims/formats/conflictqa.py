"""ConflictQA, recast as claims."""

from pathlib import Path

from ragrelay.claims.claims import Records, json_records
from ragrelay.claims.recasts import four_rows
from ragrelay.claims.source import ClaimFormat
from ragrelay.errors import InputError


class Conflictqa(ClaimFormat):
    """records of ConflictQA (Xie et al., ICLR 2024), recast as claims."""

    def records(self, path: Path) -> Records:
        """JSON lines of what a model remembered and a counter-memory.

        The claims are ``memory_answer`` and ``counter_answer``, which are sentences; the evidence
        ``parametric_memory`` and ``counter_memory``.
        """
        for place, record in json_records(path):
            names = ("memory_answer", "counter_answer", "parametric_memory", "counter_memory")
            missing = [name for name in names if not isinstance(record.get(name), str)]
            if missing:
                raise InputError(place, f"no text for {', '.join(missing)}", ", ".join(names))
            answers = {"known": record["memory_answer"], "other": record["counter_answer"]}
            memories = {"known": record["parametric_memory"], "other": record["counter_memory"]}
            yield from four_rows(place, place.rpartition(" ")[2], answers, memories)
