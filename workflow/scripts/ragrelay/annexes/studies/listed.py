"""Build the entries in the list of studies, from each study's provenance.json and facts.json."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError, printable
from ragrelay.base.io.json_values import json_object
from ragrelay.base.io.run_locks import at_work
from ragrelay.report.display.numbers import counted
from ragrelay.report.display.page_list import LIST

PAGE, PROVENANCE, FACTS = "report/index.html", "report/provenance.json", "report/facts.json"
MADE = (PAGE, PROVENANCE, "benchmarks", "fetched", "indexes", "*/collection", "plan.csv")
"""File patterns; a study's folder matches at least one of them as soon as its first job has run."""
ASIDE = ("preview.html", LIST)
"""Files in folders that aren't studies: a preview, or the pages of other targets, such as a comparison."""
RUNNING = "A run is in progress or was killed: to continue, run the study’s command again."
UNFINISHED = "No page yet: the study hasn’t run, or stopped early. To write the page, run its command."
EARLIER = "An earlier version wrote the page, without facts.json. To show its answers here, run its command again."
MOST_ANSWERS = 6
MOST_NAMED = 12
WARNINGS = ("missing", "notice", "warning")
"""Kinds of notes that warn about the data."""
MOST_WARNINGS = 3


@dataclass(frozen=True)
class Listed:
    """A study's entry in the list."""

    folder: str
    """The name of the study's folder within the results folder."""
    time: float = 0.0
    """When the page was written, in seconds since 1970; without a page, when the folder last changed."""
    page: bool = False
    datasets: Sequence[str] = ()
    retrievers: Sequence[str] = ()
    models: Sequence[str] = ()
    answers: Sequence[tuple[str, str]] = ()
    """Topics and answers, as on the page."""
    warnings: Sequence[str] = ()
    """Warnings about the data, then a sentence with the number of other warnings and remarks on the page."""
    trouble: str = ""
    """Sentences on what is missing or broken; empty for a complete study."""

    @property
    def name(self) -> str:
        return printable(self.folder)

    @property
    def date(self) -> str:
        return f"{datetime.fromtimestamp(self.time, UTC):%Y-%m-%d %H:%M}"


def read_all(root: Path, own: Path | None = None) -> tuple[list[Listed], list[str]]:
    """Return the studies in ``root``, latest first, and the names of other folders.

    ``own``: the folder of the study whose run is ending; its lock is ignored.
    """
    studies, others = [], []
    for folder in sorted(root.iterdir()):
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        try:
            if is_study(folder):
                studies.append(read_study(folder, folder == own))
            elif not any((folder / name).is_file() for name in ASIDE):
                others.append(printable(folder.name))
        except OSError as error:
            studies.append(Listed(folder.name, trouble=f"Broken: it cannot be read ({error.strerror})."))
    return sorted(studies, key=lambda study: (-study.time, study.folder)), others


def is_study(folder: Path) -> bool:
    """Return whether ``folder`` contains files written by a study's jobs."""
    return any(any(folder.glob(pattern)) for pattern in MADE)


def read_study(folder: Path, ending: bool = False) -> Listed:
    """Read a study's entry; ``trouble`` lists files that can't be read. Raises OSError if the folder can't be read."""
    page, path, told = folder / PAGE, folder / PROVENANCE, folder / FACTS
    written = page.is_file()
    time = (page if written else folder).stat().st_mtime
    said: dict[str, Any] = {"time": time, "page": written}
    troubles = []
    if path.is_file():
        try:
            said |= _of_provenance(json_object(path, str(path), "a whole file"))
        except InputError as error:
            found = error.parts[1].removeprefix(f"{path}, which contains ").removesuffix(" instead of a JSON object")
            troubles.append(f"Broken: {PROVENANCE} is {found}.")
        except (OSError, _IncompleteError) as error:
            troubles.append(f"Broken: {PROVENANCE} is {error}.")
    elif written:
        troubles.append(f"Broken: {PROVENANCE} is missing.")
    if written:
        try:
            whole = page.read_text(encoding="utf-8").rstrip().endswith("</html>")
        except (OSError, UnicodeDecodeError):
            whole = False
        if not whole:
            troubles.append(f"Broken: {PAGE} is cut off.")
        try:
            known = json_object(told, str(told), "a whole file") if told.is_file() else None
            said |= {"warnings": [EARLIER]} if known is None else of_facts(known)
        except (InputError, OSError, KeyError, TypeError, AttributeError, IndexError):
            troubles.append(f"Broken: {FACTS} has content that ragrelay does not write.")
    if not ending and at_work(folder):
        troubles.append(RUNNING)
    elif not written:
        troubles.append(UNFINISHED)
    return Listed(folder.name, trouble=printable(" ".join(troubles)), **said)


class _IncompleteError(Exception):
    """The provenance lacks values that the list needs."""


def _of_provenance(provenance: Mapping[str, object]) -> dict[str, list[str]]:
    config = provenance.get("config")
    grid = config.get("grid") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(grid, dict):
        raise _IncompleteError("without a configuration")
    generators = config.get("generators")
    models = []
    for name in _names(grid, "generators"):
        definition = generators.get(name) if isinstance(generators, dict) else None
        held = definition if isinstance(definition, dict) else {}
        models.append(printable(str(held.get("model") or held.get("path") or name)))
    of_grid = {section: _names(grid, section) for section in ("datasets", "retrievers")}
    return {name: _first(words) for name, words in {**of_grid, "models": list(dict.fromkeys(models))}.items()}


def _names(grid: Mapping[str, object], section: str) -> list[str]:
    names = grid.get(section)
    if not isinstance(names, list):
        raise _IncompleteError(f"without grid.{section}")
    return [printable(str(name)) for name in names]


def _first(names: list[str]) -> list[str]:
    return names if len(names) <= MOST_NAMED else [*names[:MOST_NAMED], f"and {len(names) - MOST_NAMED} more"]


def of_facts(facts: Mapping[str, Any]) -> dict[str, object]:
    """Return the answers and warnings at the top of a study's page, from the contents of facts.json.

    Raises KeyError, TypeError, AttributeError or IndexError if the contents are malformed.
    """
    answers = [(f"{row['dataset']} · {each['topic']}", each["sentence"]) for row in facts["over_all"]
               for each in row["answers"]]  # fmt: skip
    for section in facts["sections"] if not answers else ():
        first = facts["sections"][0]
        if section is first:
            answers = [(each["topic"], each["sentence"]) for each in section["answers"]]
        elif all(section[name] == first[name] for name in ("dataset", "generator")):
            answers += [(f"Scored by {section['scorer']}", each["sentence"]) for each in section["answers"][:1]]
    by_kind = {kind: [note["sentence"] for note in facts["notes"] if note["kind"] == kind] for kind in WARNINGS}
    strong = [printable(said) for kind in WARNINGS for said in by_kind[kind]]
    heads = Counter(printable(each["topic"]) for section in facts["sections"] for each in section["warnings"])
    more = [counted(len(strong) - MOST_WARNINGS, "other warning")] if len(strong) > MOST_WARNINGS else []
    named = ", ".join(f"{head} ({n})" if n > 1 else head for head, n in heads.items())
    more += [f"{counted(heads.total(), 'remark')}: {named}"] if heads else []
    last = [f"Its page has {' and '.join(more)}."] if more else []
    warnings = [*(f"Warning: {text}" for text in strong[:MOST_WARNINGS]), *last]
    return {"answers": [(printable(a), printable(b)) for a, b in answers[:MOST_ANSWERS]], "warnings": warnings}


def state(root: Path) -> set[tuple[str, int, int]]:
    """Return the path, modification time and size of each file in ``root`` that the list is based on."""
    return set(_state(root))


def _state(root: Path) -> Iterator[tuple[str, int, int]]:
    for pattern in (PAGE, PROVENANCE):
        for path in root.glob(f"*/{pattern}"):
            try:
                stat = path.stat()
            except OSError:
                continue
            yield str(path), stat.st_mtime_ns, stat.st_size
