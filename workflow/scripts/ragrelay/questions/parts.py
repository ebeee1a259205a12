"""Send a question's requests for all parts of a job to one engine, and read the stored replies for a table."""

import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragrelay.base.errors import InputError, RequestError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.generation.likelihoods.asker import EngineAsker, StoreAsker
from ragrelay.questions.question import QuestionJob, question_module

log = logging.getLogger(__name__)

PART = "part %d of %d: %s"
COUNTS = ("asked", "cached", "made", "generate_seconds")

Inputs = Mapping[str, str | Sequence[str]]
Part = Mapping[str, Any]
"""A part's settings, wildcards and ``files``: for each input name, the positions of its files among the job's files."""


def ask_parts(question: str, inputs: Inputs, parts: Sequence[Part], asker: EngineAsker) -> dict[str, Any]:
    """Send the requests for each part, and return the receipt: total COUNTS, seconds, and each part's receipt.

    A part whose requests raise RequestError is skipped. The part's entry in the receipt then contains the error
    (``refused``), to be raised by the job that reads the replies. A request shared by two parts is counted for both,
    but for the second part as cached. Raises RequestError if all parts are skipped.
    """
    began, told, refused = time.monotonic(), list[dict[str, Any]](), list[RequestError]()
    ask = question_module(question).ask
    for number, (part, job) in enumerate(zip(parts, _jobs(inputs, parts), strict=True), start=1):
        log.info(PART, number, len(parts), " ".join(job.wildcards.values()))
        try:
            _, receipt = ask(job, asker)
        except RequestError as error:
            log.warning("refused: %s", error)
            refused.append(error)
            told.append({"wildcards": part["wildcards"], "refused": error.parts})
        else:
            told.append({"wildcards": part["wildcards"], **receipt})
    if parts and len(refused) == len(parts):
        raise refused[0]
    counts = {name: sum(store.get(name, 0) for one in told for store in _stores(one)) for name in COUNTS}
    return {**counts, "seconds": round(time.monotonic() - began, 2), "parts": told}


def read_parts(
    question: str, inputs: Inputs, parts: Sequence[Part], asker: StoreAsker, asked_file: str | None
) -> Mapping[str, Any]:
    """Call the question's function ``read``, and return the contents of the files to write.

    The last of ``parts`` describes the table, and the others describe requests. For these requests, the question's
    function ``ask`` recreates the rows, which are written to ``asked_file`` unless ``asked_file`` is None. Raises
    InputError if a reply isn't stored, or RequestError if the receipt says that a part was skipped.
    """
    module = question_module(question)
    *jobs, table = _jobs(inputs, parts)
    try:
        made = [module.ask(job, asker) for job in jobs]
    except InputError:
        wanted = [job.wildcards for job in jobs]
        for path in QuestionJob(inputs, {}, {}).paths("receipt"):
            for one in json.loads(path.read_text(encoding="utf-8"))["parts"]:
                if "refused" in one and one["wildcards"] in wanted:
                    raise RequestError(*one["refused"]) from None
        raise
    if asked_file is not None:
        write_parquet(pl.concat([rows for rows, _ in made]), asked_file)
        table.inputs = {**table.inputs, "asked": asked_file}
    # Use the receipt's order of words, not the question's, because it affects the last bit of probability sums.
    receipt = json.loads(json.dumps(made[0][1], sort_keys=True))
    found: Mapping[str, Any] = module.read(table, receipt, asker.cache_dir)
    return found


def _jobs(inputs: Inputs, parts: Iterable[Part]) -> Iterator[QuestionJob]:
    given = QuestionJob(inputs, {}, {})
    for part in parts:
        files = {name: [str(given.paths(name)[place]) for place in places] for name, places in part["files"].items()}
        yield QuestionJob(files, part["settings"], part["wildcards"])


def _stores(receipt: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a receipt's counts, one mapping per store if the question fills several."""
    return [receipt] if "asked" in receipt else [value for value in receipt.values() if isinstance(value, Mapping)]
