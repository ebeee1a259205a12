"""The live look: counts, rates and states from logs and receipts such as generation writes."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ragrelay.generation.status import Shard, generation_status, show_status, unused_addresses

NOW = datetime(2025, 3, 1, 12, 0, 0)


def record(minutes_ago: float, text: str, level: str = "INFO") -> str:
    time = NOW - timedelta(minutes=minutes_ago)
    return f"{time:%Y-%m-%d %H:%M:%S},000 {level} ragrelay.generation.job: {text}\n"


def shard(folder: Path, retriever: str, *lines: str, number: int = 0, receipt: dict | None = None) -> Shard:
    log, made = folder / f"{retriever}{number}.log", folder / f"{retriever}{number}.json"
    if lines:
        log.write_text("".join(lines), encoding="utf-8")
    if receipt:
        made.write_text(json.dumps(receipt), encoding="utf-8")
    return Shard("demo", "lm", retriever, "generate_answers", str(made), str(log))


BEGUN = record(5, "500 answers needed, 100 cached, 400 to generate")


def test_states_counts_and_rates(tmp_path: Path) -> None:
    done = {"asked": 90, "cached": 30, "made": 60, "generate_seconds": 30.0}
    table = generation_status(
        [
            shard(tmp_path, "zeroshot", record(9, "90 answers asked for, 30 cached, 60 to make"), receipt=done),
            shard(tmp_path, "bm25", BEGUN, record(4, "40 of 400 answers made"), record(2, "160 of 400 answers made")),
            shard(tmp_path, "bm25", number=1),
            shard(tmp_path, "dense", record(11, "500 answers asked for, 100 cached, 400 to make")),
            shard(tmp_path, "rel", BEGUN, record(4, "model: found none; expected one", "ERROR")),
            shard(tmp_path, "nrel"),
        ],
        NOW,
    )
    assert table.rows() == [
        ("demo", "lm", "zeroshot", "generate_answers", 90, 30, 60, 0, 0, 2.0, None, None, None, "done"),
        # 120 in two minutes; its other shard waits.
        ("demo", "lm", "bm25", "generate_answers", 500, 100, 160, 240, 1, 1.0, None, None, None, "running"),
        ("demo", "lm", "dense", "generate_answers", 500, 100, 0, 400, 0, None, None, None, None, "silent"),
        ("demo", "lm", "rel", "generate_answers", 500, 100, 0, 400, 0, None, None, None, None, "failed"),
        ("demo", "lm", "nrel", "generate_answers", None, None, None, None, 1, None, None, None, None, "waiting"),
    ]
    shown = show_status(table, {"logs/demo/rel.log": "model: found none; expected one"})
    rows = {
        cells[2]: cells for cells in ([c.strip() for c in line.split("|")[1:-1]] for line in shown.splitlines()[2:8])
    }
    assert rows["bm25"][4:] == ["500", "100", "160", "240+", "", "1", "0:04:00+", "running"]
    assert rows["nrel"][4:] == ["", "", "", "+", "", "", "", "waiting"]
    assert rows[""][0] == "total" and rows[""][4:8] == ["1,590", "330", "220", "1,040+"]
    assert "+: plus requests from 2 jobs that have not counted theirs yet" in shown
    assert shown.endswith("Failed jobs:\n  logs/demo/rel.log: model: found none; expected one")


def test_a_job_that_is_tried_again_is_at_work(tmp_path: Path) -> None:
    """Logs are appended to: what counts is what follows the last beginning."""
    again = record(1, "500 answers asked for, 300 cached, 200 to make")
    lines = [BEGUN, record(4, "200 of 400 answers made"), record(3, "stopped by SIGTERM", "ERROR"), again]
    table = generation_status([shard(tmp_path, "bm25", *lines)], NOW)
    assert table.rows() == [
        ("demo", "lm", "bm25", "generate_answers", 500, 300, 0, 200, 0, None, None, None, None, "running")
    ]


@pytest.mark.parametrize("lines", [(), ("no record\n",), (record(1, "loading"),)])
def test_before_it_has_counted(tmp_path: Path, lines: tuple[str, ...]) -> None:
    table = generation_status([shard(tmp_path, "bm25", *lines)], NOW)
    assert table.row(0)[4:] == (
        None,
        None,
        None,
        None,
        1,
        None,
        None,
        None,
        None,
        "running" if "loading" in "".join(lines) else "waiting",
    )
    total = show_status(table, {}).splitlines()[3].split("|")
    assert [cell.strip() for cell in total[5:9]] == ["0", "0", "0", "+"], "not 0 to make"


def test_a_question_counts_part_by_part(tmp_path: Path) -> None:
    """Each part that the last start has begun counts; the receipt has them all."""
    killed = record(9, "part 1 of 3: small lm bm25") + record(8, "90 likelihoods needed, 0 cached, 90 to compute")
    first = record(7, "part 1 of 3: small lm bm25") + record(6, "30 likelihoods needed, 10 cached, 20 to compute")
    made = record(5, "20 of 20 likelihoods made")
    second = record(4, "part 2 of 3: small lm rel") + record(4, "8 likelihoods asked for, 3 cached, 5 to make")
    third = record(3, "part 3 of 3: small lm nrel") + record(2, "2 likelihoods asked for, 2 cached, 0 to make")
    shown = ("asked", "cached", "made", "to_make", "uncounted", "state")

    def status(*lines: str) -> tuple[Any, ...]:
        return generation_status([shard(tmp_path, "all", *lines)], NOW).select(shown).row(0)

    assert status(killed, first, made) == (30, 10, 20, 0, 1, "running")
    assert status(killed, first, made, second) == (38, 13, 20, 5, 1, "running")
    assert status(killed, first, made, second, record(3, "5 of 5 likelihoods made"), third) == (
        40, 15, 25, 0, 0, "running",
    )  # fmt: skip
    for name in ("cached", "held"):
        receipt = {"asked": 9, name: 5, "made": 4, "generate_seconds": 2.0, "parts": []}
        done = shard(tmp_path, f"rel-{name}", receipt=receipt)
        assert generation_status([done], NOW).select("asked", "cached", "rate").row(0) == (9, 5, 2.0)


def test_tokens_tell_the_time_left(tmp_path: Path) -> None:
    """The batch's answers all finish late: none is made, but two thirds of the tokens are. The slowest shard counts."""
    told = [record(4.5, "0 of 400 answers, 900 of about 60,500 tokens"),
            record(2, "0 of 400 answers, 40,000 of about 60,000 tokens, 0:03:00 left")]  # fmt: skip
    other = record(1, "7 of 400 answers, 100 of about 1,000 tokens, 2 days, 1:00:30 left")
    first, second = shard(tmp_path, "bm25", BEGUN, *told), shard(tmp_path, "bm25", BEGUN, other, number=1)

    def shown(*shards: Shard) -> list[list[str]]:
        lines = show_status(generation_status(shards, NOW), {}).splitlines()[2:]
        return [[cell.strip() for cell in line.split("|")[1:-1]][7:] for line in lines]

    assert shown(first) == [["400", "40,000 of ~60,000", "", "0:01:00", "running"],
                            ["400", "40,000 of ~60,000", "", "0:01:00", ""]]  # fmt: skip
    assert shown(first, second)[0] == ["800", "40,100 of ~61,000", "", "2 days, 0:59:30", "running"]
    late = shard(tmp_path, "dense", BEGUN, record(4, "0 of 400 answers, 1 of about 9 tokens, 0:00:07 left"))
    assert shown(late)[0][3] == "0:00:00"
    again = shard(tmp_path, "rel", BEGUN, *told, record(1, "500 answers asked for, 100 cached, 400 to make"))
    assert shown(again)[0][1:4] == ["", "", ""], "what the job told before it was tried again"


def shares(minutes_ago: float, model: str, **replies: int) -> str:
    listed = ", ".join(f"http://{name}:1/v1/ gave {number}" for name, number in replies.items())
    return record(minutes_ago, f"replies of model {model!r}: {listed}", "WARNING")


def test_addresses_without_a_reply_are_repeated_at_the_end_of_a_run(tmp_path: Path) -> None:
    """Once, with the number of jobs, by the last that each job says; of logs and records of this run alone."""
    logs = {
        "generate/a": BEGUN + shares(3, "lm", a=0, b=60, c=0),
        "generate/b": shares(3, "lm", b=10, a=0) + shares(2, "lm", b=10, a=0),
        "generate/c": shares(3, "lm", a=0, b=1) + shares(2, "lm", a=1, b=1),
        "ask/d": shares(3, "a judge: 'x', 3", b=0, c=20),
        "ask/e": shares(90, "lm", d=0, b=9) + BEGUN,
        "old/f": shares(3, "lm", d=0, b=9),
        "some/g": record(3, "replies of model 'lm': none") + record(3, "an answer with gave 0, which is no count"),
    }
    for name, text in logs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.log").write_text(text)
    since = (NOW - timedelta(minutes=10)).timestamp()
    os.utime(tmp_path / "old/f.log", (since - 1, since - 1))
    assert sorted(unused_addresses(tmp_path, since)) == [
        "endpoint http://a:1/v1/, model 'lm': no reply in 2 jobs; its requests went to other addresses",
        "endpoint http://b:1/v1/, model \"a judge: 'x', 3\": no reply in 1 job; its requests went to other addresses",
        "endpoint http://c:1/v1/, model 'lm': no reply in 1 job; its requests went to other addresses",
    ]
    assert list(unused_addresses(tmp_path / "none", since)) == []
