"""Build local datasets from KILT's published files: `python -m ragrelay.collection.kilt` (docs/datasets.md).

KILT: Petroni et al., NAACL 2021. Passages have 100 words, as in Karpukhin et al., EMNLP 2020. All passages from a gold
page (a page in a query's provenance) count as relevant, as in Salemi and Zamani, SIGIR 2024.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragrelay.base.display.terminal import say, tell
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic, write_text
from ragrelay.base.io.json_values import json_record
from ragrelay.base.io.text_lines import numbered_lines

WORDS = 100
HEADING, ITEM = "Section::::", "BULLET::::-"
"""The strings that KILT puts before section headings and before list items."""
PASSAGES = "passages.jsonl.gz"


class TaskRecords(NamedTuple):
    """A KILT task's queries, gold answers and ids of gold pages, each keyed by qid."""

    queries: dict[str, str]
    answers: dict[str, list[str]]
    pages: dict[str, list[str]]


def read_task(path: Path) -> TaskRecords:
    """Read a task's file. Whitespace in a query, such as line breaks in a dialogue, is reduced to single spaces.

    Raises InputError for a record that has no id or input, repeats an id, or has a malformed output.
    """
    task = TaskRecords({}, {}, {})
    for number, line in numbered_lines(path):
        place, record = f"{path}, line {number}", json_record(path, number, line)
        qid, query, outputs = record.get("id"), record.get("input"), record.get("output")
        if not isinstance(qid, str) or qid in task.queries:
            raise InputError(place, f"id {qid!r}", "a unique string")
        if not isinstance(query, str) or not query.split():
            raise InputError(place, "no input", "a query; for TriviaQA, KILT's get_triviaqa_input.py adds the queries")
        if not isinstance(outputs, list) or not all(isinstance(item, dict) for item in outputs):
            raise InputError(place, "no output", "a list of answers, as in KILT's train and dev files")
        task.queries[qid] = " ".join(query.split())
        answers = (item["answer"] for item in outputs if isinstance(item.get("answer"), str) and item["answer"].strip())
        task.answers[qid] = list(dict.fromkeys(answers))
        task.pages[qid] = list(dict.fromkeys(_page_ids(place, outputs)))
    return task


def _page_ids(place: str, outputs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for output in outputs:
        for page in output.get("provenance") or []:
            number = page.get("wikipedia_id") if isinstance(page, dict) else None
            if not isinstance(number, str | int):
                raise InputError(place, "provenance without wikipedia_id", '{"wikipedia_id": "290", ...}')
            yield str(number)


def page_passages(page: Mapping[str, object], place: str) -> list[dict[str, str]]:
    """Split a page from KILT's knowledge source into passages with doc_id (page id and passage number), title and text.

    The paragraphs, without title and headings, are split into passages of WORDS words. Each passage's text begins with
    the page's title. Raises InputError for a page without id, title or paragraphs.
    """
    number, title, paragraphs = (page.get(name) for name in ("wikipedia_id", "wikipedia_title", "text"))
    if not isinstance(number, str | int) or not isinstance(title, str) or not isinstance(paragraphs, list):
        raise InputError(place, "no page", '{"wikipedia_id": ..., "wikipedia_title": ..., "text": [...]}')
    kept = (text.replace(ITEM, " ") for text in paragraphs[1:] if HEADING not in text)
    words = [word for text in kept for word in text.split()]
    starts = range(0, len(words), WORDS)
    return [
        {
            "doc_id": f"{number}-{start // WORDS}",
            "title": title,
            "text": " ".join([title, *words[start : start + WORDS]]),
        }
        for start in starts
    ]


def make_datasets(knowledge: Path, tasks: Mapping[str, Path], folder: Path) -> dict[str, dict[str, int]]:
    """Write all passages to ``folder`` and, for each of ``tasks``, a dataset that links to the passages.

    All passages from a query's gold pages get label 1, and each gold page is a subtopic. Returns three counts for each
    task: queries, queries without a gold page in the knowledge source, and judgements. Raises InputError for a
    malformed record or page, and if the knowledge source contains none of a task's gold pages.
    """
    records = {name: read_task(path) for name, path in tasks.items()}
    wanted = {page for task in records.values() for pages in task.pages.values() for page in pages}
    n_passages: dict[str, int] = {}
    with atomic(folder / PASSAGES) as temporary, gzip.GzipFile(temporary, "wb", compresslevel=5, mtime=0) as file:
        for number, line in numbered_lines(knowledge):
            passages = page_passages(json_record(knowledge, number, line), f"{knowledge}, line {number}")
            file.writelines(f"{json.dumps(passage, ensure_ascii=False)}\n".encode() for passage in passages)
            if passages and (page := passages[0]["doc_id"].rpartition("-")[0]) in wanted:
                n_passages[page] = len(passages)
    return {name: _write_task(folder / name, task, n_passages, tasks[name]) for name, task in records.items()}


def _write_task(folder: Path, task: TaskRecords, n_passages: Mapping[str, int], path: Path) -> dict[str, int]:
    gold = {qid: [page for page in pages if page in n_passages] for qid, pages in task.pages.items()}
    pairs = [(qid, page) for qid, pages in gold.items() for page in pages]
    judged = [f"{qid} {page} {page}-{n} 1" for qid, page in pairs for n in range(n_passages[page])]
    if not judged:
        raise InputError(path, "no gold page in the knowledge source", "the knowledge source that belongs to this file")
    answers = [json.dumps({"qid": q, "answers": texts}, ensure_ascii=False) for q, texts in task.answers.items()]
    files = {"queries.tsv": [f"{q}\t{text}" for q, text in task.queries.items()], "qrels.txt": judged}
    for name, lines in (files | {"answers.jsonl": answers}).items():
        write_text("".join(f"{line}\n" for line in lines), folder / name)
    link = folder / PASSAGES
    link.unlink(missing_ok=True)
    link.symlink_to(Path("..") / PASSAGES)
    without = sum(not pages for pages in gold.values())
    return {"queries": len(task.queries), "without a gold page": without, "judgements": len(judged)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m ragrelay.collection.kilt", description="KILT as local datasets.")
    parser.add_argument("knowledge", type=Path, help="kilt_knowledgesource.json")
    parser.add_argument("folder", type=Path, help="folder for the datasets")
    parser.add_argument("tasks", nargs="+", metavar="NAME=FILE", help="for example nq=nq-dev-kilt.jsonl")
    options = parser.parse_args(arguments)
    try:
        tasks = dict(_named(task) for task in options.tasks)
        counts = make_datasets(options.knowledge, tasks, options.folder)
    except InputError as error:
        tell(f"ragrelay: error: {error}")
        return 1
    for name, numbers in counts.items():
        say(f"{options.folder / name}: " + ", ".join(f"{count:,} {what}" for what, count in numbers.items()))
    return 0


def _named(task: str) -> tuple[str, Path]:
    name, sign, path = task.partition("=")
    if not (name and sign and path):
        raise InputError(f"task {task!r}", "neither name nor file", "both, for example nq=nq-dev-kilt.jsonl")
    return name, Path(path)


if __name__ == "__main__":
    sys.exit(main())
