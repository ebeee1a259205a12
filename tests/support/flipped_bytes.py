"""A Parquet file with one bit turned, many times over, each read as the study reads it.

A process of its own, since what it looks for would end the tests: ``python -m tests.support.flipped_bytes FOLDER TIMES
SEED`` prints how often each of those FILES that are in the folder was read and refused.
"""

import contextlib
import io
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.base.errors import InputError
from ragrelay.collection.answer_formats.answer_rows import read_answer_rows
from ragrelay.collection.answer_formats.file_patterns import AnswerFile
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.scoring.nugget_lists import read_nuggets

from tests.support.annex_cases import of_annexes

N = 40
ANSWERS: dict[str, list[Any]] = {
    "qid": [f"q{number}" for number in range(N)],
    "answer": [f"the {number}th answer, caf\u00e9" for number in range(N)],
    "retriever": ["bm25", "rel"] * (N // 2),
    "k": [None if number % 3 else 2 for number in range(N)],
    "docnos": [None if number % 4 else [f"d{number}", "d2"] for number in range(N)],
}
FILES: dict[str, dict[str, list[Any]]] = {
    "answers": ANSWERS,
    "nuggets": {"qid": ["q1"] * N, "text": ANSWERS["answer"], "vital": [True, False] * (N // 2)},
    "result": {**ANSWERS, "f1": [number / 7 for number in range(N)]},
}


def read_result(path: Path) -> pl.DataFrame:
    """Read a result as a later job does. Raises InputError with what that job ends with."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), job_log(str(path.with_name("log")), [str(path)]):
            found = pl.read_parquet(path, glob=False)
    except SystemExit:
        place, _, line = said.getvalue().removeprefix("ragrelay: error: ").rstrip().partition(": found ")
        raise InputError(place, *line.split("; expected ")) from None
    return found


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "answers": lambda path: read_answer_rows([AnswerFile(path, {})]),
    "nuggets": read_nuggets,
    "result": read_result,
}
for of_annex in of_annexes("FLIPPED"):
    FILES |= {name: columns for name, (columns, _) in of_annex.items()}
    READERS |= {name: read for name, (_, read) in of_annex.items()}


def read_flipped(path: Path, reader: str, times: int, seed: int) -> Counter[str]:
    """How often a copy of ``path`` with one bit turned gave the same, other values, or an error of one line."""
    read, content, chance = READERS[reader], path.read_bytes(), random.Random(seed)
    good, flipped = read(path), path.with_name(f"flipped-{path.name}")
    assert read(path).equals(good)
    ends: Counter[str] = Counter()
    for _ in range(times):
        place = chance.randrange(len(content))
        changed = bytes([content[place] ^ 1 << chance.randrange(8)])
        flipped.write_bytes(content[:place] + changed + content[place + 1 :])
        try:
            found = read(flipped)
        except InputError as error:
            message = str(error)
            assert message.startswith(str(flipped)) and ": found " in message and "; expected " in message, message
            assert message.isprintable() and len(message) < 500, message
            ends["refused"] += 1
            continue
        if reader == "result" and (found.schema, found.height) != (good.schema, good.height):
            ends["other shape"] += 1  # a name in the footer: the reader of such columns ends in a line of its own
            continue
        assert found.schema == good.schema and found.height == good.height, (place, changed)
        assert len(found.rows()) == good.height  # every text can be decoded
        found = found.drop("place", strict=False)  # it has the file's name
        ends["same" if found.equals(good.drop("place", strict=False)) else "other values"] += 1
    return ends


if __name__ == "__main__":
    folder, times, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    paths = {name: path for name in FILES if (path := folder / f"{name}.parquet").is_file()}
    print(json.dumps({name: read_flipped(path, name, times, seed) for name, path in paths.items()}))
