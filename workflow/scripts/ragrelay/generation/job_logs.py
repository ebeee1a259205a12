"""Read job logs as records with time and level, and find failed jobs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

RECORD = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) ([A-Z]+) (\S+): (.*)")
"""A line written by job_log; any other line belongs to the record above it."""
WILDCARD = re.compile(r"\{(\w+)[^}]*\}")


class Record(NamedTuple):
    """A log record. ``last``: the record's last line, which names the error if the record contains a traceback."""

    time: datetime
    level: str
    text: str
    last: str


class Logged(NamedTuple):
    """A rule's log paths (a regular expression) and output paths (patterns with wildcards in braces)."""

    log: str
    outputs: Sequence[str]


def records(log: Path) -> list[Record]:
    """Return a log's records, oldest first; an empty list if the file doesn't exist."""
    entries: list[Record] = []
    if not log.is_file():
        return entries
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if record := RECORD.fullmatch(line):
            time, level, _, text = record.groups()
            entries.append(Record(datetime.strptime(time, "%Y-%m-%d %H:%M:%S,%f"), level, text, text))
        elif entries and line.strip():
            entries[-1] = entries[-1]._replace(last=line.strip())
    return entries


def failed_jobs(folder: Path, rules: Iterable[Logged]) -> Iterator[tuple[Path, Record]]:
    """Yield the path and last record of each log that ends with an error, unless the job has succeeded since then.

    Snakemake deletes a failed job's outputs, so a job has succeeded if all its outputs exist.
    """
    known = [(re.compile(rule.log), rule.outputs) for rule in rules]
    for log in sorted(folder.rglob("*.log")):
        final = next(reversed(records(log)), None)
        if final is None or final.level not in ("ERROR", "CRITICAL"):
            continue
        for pattern, outputs in known:
            values = pattern.fullmatch(str(log))
            if values and not all(Path(_filled(output, values.groupdict())).exists() for output in outputs):
                yield log, final
                break


def _filled(output: str, values: Mapping[str, str]) -> str:
    return WILDCARD.sub(lambda match: values[match[1]], output)
