"""Show the progress of jobs that use an engine, based on their logs and receipts."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from ragrelay.base.display.printed_tables import printed
from ragrelay.generation.job_logs import Record, records

BEGAN = re.compile(r"(\d+) \w+ (?:needed|asked for), (\d+) (?:cached|held), (\d+) to (?:generate|compute|make)")
PART = re.compile(r"part (\d+) of (\d+): .*")
"""The log line that a question's job writes before each part; requests are counted separately for each part."""
MADE = re.compile(r"(\d+) of \d+ (?:answers|likelihoods) made")
TOLD = re.compile(
    r"[\d,]+ of [\d,]+ \w+, ([\d,]+) of about ([\d,]+) tokens(?:, (?:(\d+) days?, )?(\d+):(\d\d):(\d\d) left)?"
)
"""Matches the tokens that TokenProgress logs after ten seconds, including those of unfinished answers."""
REPLACED = re.compile(r"(endpoint .+); the other addresses get its requests")
"""Matches the message that EndpointEngine logs once for each endpoint address that fails."""
SHARES = re.compile(r"replies of model (.+): (\S+ gave \d+(?:, \S+ gave \d+)+)")
"""Matches the message that EndpointEngine logs at the end of a job in which an endpoint address failed."""
SILENT = timedelta(minutes=10)
"""An unfinished job that hasn't logged anything for this long may have been killed."""
NAMES = ["dataset", "generator", "retriever", "job"]
SCHEMA = {
    **dict.fromkeys(NAMES, pl.String),
    **dict.fromkeys(("asked", "cached", "made", "to_make", "uncounted"), pl.Int64),
    "rate": pl.Float64,
    "tokens": pl.Int64,
    "all_tokens": pl.Int64,
    "left": pl.Float64,
    "state": pl.String,
}


class Shard(NamedTuple):
    """A job that uses an engine: its dataset, generator, retriever, rule (``job``), receipt and log."""

    dataset: str
    generator: str
    retriever: str
    job: str
    receipt: str
    log: str


def generation_status(shards: Iterable[Shard], now: datetime) -> pl.DataFrame:
    """Return a table with one row per dataset, generator, retriever and rule, in the order of ``shards``.

    - asked: number of answers or likelihoods that the jobs request
    - cached: number of answers or likelihoods that were in the cache when the jobs began
    - made: number generated since the jobs began, up to the last part written (a generator's `flush_seconds`)
    - to_make: number still missing, as far as the jobs have counted their requests
    - uncounted: number of jobs that haven't counted all their requests yet
    - rate: answers per second, summed over the jobs
    - tokens, all_tokens: the running jobs' tokens so far, and the estimated total
    - left: estimated seconds until the last running job ends
    - state: the last in the list `done`, `waiting`, `running`, `silent`, `failed` that applies to any job

    Counts are null if no job has begun.
    """
    rows = []
    for shard in shards:
        status = _status(shard, now)
        uncounted = int("asked" not in status)
        rows.append({"uncounted": uncounted, **dict(zip(NAMES, shard, strict=False)), **status})
    order = pl.Enum(["done", "waiting", "running", "silent", "failed"])
    table = pl.DataFrame(rows, schema=SCHEMA)
    counts = [pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()) for name in ("asked", "cached", "made")]
    return table.group_by(NAMES, maintain_order=True).agg(
        *counts,
        pl.when(pl.col("to_make").count() > 0).then(pl.col("to_make").sum()),
        pl.col("uncounted").sum(),
        *(pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()) for name in ("rate", "tokens", "all_tokens")),
        pl.col("left").max(),
        pl.col("state").cast(order).max().cast(pl.String),
    )


def _status(shard: Shard, now: datetime) -> dict[str, object]:
    receipt = Path(shard.receipt)
    if receipt.is_file():
        content = json.loads(receipt.read_text(encoding="utf-8"))
        asked, made, seconds = (content.get(name, 0) for name in ("asked", "made", "generate_seconds"))
        rate = made / seconds if seconds else None
        return _counts(asked, _cached(content), made, 0) | {"rate": rate, "state": "done"}
    entries = records(Path(shard.log))
    if not entries:
        return {"state": "waiting"}
    state = "failed" if entries[-1].level in ("ERROR", "CRITICAL") else "running"
    if state == "running" and now - entries[-1].time > SILENT:
        state = "silent"
    entries = _last_attempt(entries)
    parts = [match for record in entries if (match := PART.fullmatch(record.text))]
    starts = [(place, begun) for place, record in enumerate(entries) if (begun := BEGAN.fullmatch(record.text))]
    if not starts:
        return {"state": state}
    sums = [0, 0, 0, 0]
    for (place, begun), (end, _) in zip(starts, [*starts[1:], (len(entries), None)], strict=True):
        asked, cached, to_make = map(int, begun.groups())
        flushed = [(record.time, MADE.fullmatch(record.text)) for record in entries[place:end]]
        steps = [(time, int(match[1])) for time, match in flushed if match]
        made = steps[-1][1] if steps else 0
        sums = [total + more for total, more in zip(sums, (asked, cached, made, to_make - made), strict=True)]
    at_work = (
        _rate(entries[starts[-1][0]], steps) | _tokens(entries[starts[-1][0] :], now) if state == "running" else {}
    )
    uncounted = int(bool(parts) and int(parts[-1][1]) < int(parts[-1][2]))
    return _counts(*sums) | at_work | {"state": state, "uncounted": uncounted}


def _last_attempt(entries: list[Record]) -> list[Record]:
    """Return the records since the job last began (at its first part, if it has parts); all records if it never did."""
    parts = [
        place for place, record in enumerate(entries) if (match := PART.fullmatch(record.text)) and match[1] == "1"
    ]
    begins = parts or [place for place, record in enumerate(entries) if BEGAN.fullmatch(record.text)]
    return entries[begins[-1] :] if begins else entries


def failed_addresses(shards: Iterable[Shard]) -> list[str]:
    """Return log messages, without duplicates, about failed addresses whose requests went to other addresses."""
    entries = (record.text for shard in shards for record in _last_attempt(records(Path(shard.log))))
    return list(dict.fromkeys(match[1] for text in entries if (match := REPLACED.fullmatch(text))))


def unused_addresses(logs: Path, since: float) -> Iterator[str]:
    """Yield a message for each address that never replied during a job, based on log records after ``since``."""
    jobs: Counter[tuple[str, str]] = Counter()
    for log in sorted(logs.rglob("*.log")):
        if log.stat().st_mtime >= since:
            told = (SHARES.fullmatch(record.text) for record in records(log) if record.time.timestamp() >= since)
            last = {match[1]: match[2] for match in told if match}
            jobs.update(
                (model, address) for model, text in last.items() for address in re.findall(r"(\S+) gave 0(?:,|$)", text)
            )
    for (model, address), number in jobs.items():
        of = "1 job" if number == 1 else f"{number} jobs"
        yield f"endpoint {address}, model {model}: no reply in {of}; its requests went to other addresses"


def _cached(receipt: Mapping[str, Any]) -> int:
    """Return how many keys were cached when the receipt's job began. Version 0.1.0 called them ``held``."""
    return int(receipt.get("cached", receipt.get("held", 0)))


def _counts(asked: int, cached: int, made: int, to_make: int) -> dict[str, int]:
    return {"asked": asked, "cached": cached, "made": made, "to_make": to_make}


def _tokens(entries: list[Record], now: datetime) -> dict[str, Any]:
    told = [(record.time, match.groups()) for record in entries if (match := TOLD.fullmatch(record.text))]
    if not told:
        return {}
    time, (made, number, *left) = told[-1]
    counts = {"tokens": int(made.replace(",", "")), "all_tokens": int(number.replace(",", ""))}
    if left[-1] is None:
        return counts
    days, hours, minutes, seconds = (int(value or 0) for value in left)
    then = time + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    return counts | {"left": max(0.0, (then - now).total_seconds())}


def _rate(began: Record, steps: list[tuple[datetime, int]]) -> dict[str, float]:
    """Return answers per second since the first part, so without the engine's start; with one part, since BEGAN."""
    if not steps:
        return {}
    (start, before), (end, made) = (steps[0] if len(steps) > 1 else (began.time, 0)), steps[-1]
    seconds = (end - start).total_seconds()
    return {"rate": (made - before) / seconds} if seconds else {}


def show_status(table: pl.DataFrame, failed: Mapping[str, str], addresses: Sequence[str] = ()) -> str:
    """Format ``table`` (from generation_status) for the terminal, with totals and the failed addresses and jobs.

    ``failed``: each failed job's last log line, keyed by log path. ``addresses``: messages about failed addresses.
    """
    total = table.select(pl.all().exclude(*NAMES, "rate", "left", "state").sum()).row(0, named=True)
    running = table.filter(state="running")
    rate, left = running["rate"].sum() or None, running["left"].max()
    rows = [*table.iter_rows(named=True), {"dataset": "total", **total, "rate": rate, "left": left}]
    shown = pl.DataFrame(
        [
            {
                **{name: row.get(name) or "" for name in NAMES},
                **{name: _number(row[name]) for name in ("asked", "cached", "made")},
                "to make": _to_make(row),
                "tokens": f"{row['tokens']:,} of ~{row['all_tokens']:,}" if row["all_tokens"] else "",
                "per second": "" if row["rate"] is None else f"{row['rate']:.3g}",
                "time left": _left(row),
                "state": row.get("state", ""),
            }
            for row in rows
        ]
    )
    lines = [printed(shown)]
    if uncounted := total["uncounted"]:
        jobs = "1 job that has" if uncounted == 1 else f"{uncounted} jobs that have"
        lines.append(f"+: plus requests from {jobs} not counted theirs yet; `snakemake plan` counts them in advance.")
    if addresses:
        lines += ["", "Failed addresses (other addresses got their requests):", *(f"  {line}" for line in addresses)]
    lines += ["", "Failed jobs:", *(f"  {log}: {line}" for log, line in failed.items())] if failed else []
    return "\n".join(lines)


def _to_make(row: Mapping[str, Any]) -> str:
    """Return the number, followed by + if some jobs haven't counted yet; only + if none has."""
    known = row["to_make"] if row["to_make"] or not row["uncounted"] else None
    return _number(known) + ("+" if row["uncounted"] else "")


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _left(row: Mapping[str, Any]) -> str:
    """Return the time left, estimated from running jobs' tokens or else from answers per second."""
    seconds = row["left"]
    if seconds is None and row["to_make"] and row["rate"]:
        seconds = row["to_make"] / row["rate"]
    return "" if seconds is None else str(timedelta(seconds=round(seconds))) + ("+" if row["uncounted"] else "")
