"""The changes of the table in reruns.md, each made to a finished study with five retrievers and taken back.

The study's retrievers: bm25 (with an index), rel and nrel (oracles), mine (a run file) and fused (of bm25 and mine).
"""

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.annex_cases import of_annexes
from tests.support.code_edits import edit_functions
from tests.support.sandbox import Sandbox

RETRIEVERS = ["bm25", "rel", "nrel", "mine", "fused"]
INPUTS = ("Snakefile", "rules", "workflow", "config", "profiles", "envs", "resources", "small", "mine.run")


class Changes:
    """What a change does to a study: its configuration, and files."""

    def __init__(self, study: Sandbox) -> None:
        self.folder, self.config = study.folder, study.config
        self._before: dict[Path, tuple[bytes, os.stat_result]] = {}

    def grid(self, **lists: list[Any]) -> None:
        """Name other things in the grid."""
        self.config["grid"] = {**self.config["grid"], **lists}

    def entry(self, section: str, name: str, **values: Any) -> None:
        """Set keys of an entry of the catalogue; a new one has them all."""
        entries = self.config.setdefault(section, {})
        entries[name] = {**entries.get(name, {}), **values}

    def add(self, name: str, **definition: Any) -> None:
        """Add a retriever."""
        self.entry("retrievers", name, **definition)
        self.grid(retrievers=[*self.config["grid"]["retrievers"], name])

    def remove(self, name: str) -> None:
        """Remove a retriever, also from what annexes do with it."""
        self.grid(retrievers=[other for other in self.config["grid"]["retrievers"] if other != name])
        for remove in of_annexes("remove_retriever"):
            remove(self, name)

    def edit(self, path: str, old: str, new: str, count: int = 1) -> None:
        """Replace a text that the file has, where it is first; a ``count`` of -1 replaces all."""
        file = self.folder / path
        content = file.read_text(encoding="utf-8")
        assert old in content, f"{path}: no {old!r}"
        self.keep(file)
        file.write_text(content.replace(old, new, count), encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        file = self.folder / path
        self.keep(file)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(text)

    def edit_code(self, path: str) -> None:
        """Put a statement more into every function of a file."""
        self.keep(self.folder / path)
        edit_functions(self.folder / path)

    def touch(self) -> None:
        """Give every file that is not a result the time of now, as a fresh checkout does."""
        for part in INPUTS:
            for path in [self.folder / part, *(self.folder / part).rglob("*")]:
                if path.is_file():
                    self.keep(path)
                    os.utime(path)

    def keep(self, file: Path) -> None:
        self._before.setdefault(file, (file.read_bytes(), file.stat()))

    def undo(self) -> None:
        for file, (content, stat) in self._before.items():
            file.write_bytes(content)
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


Change = Callable[[Changes], None]


@contextmanager
def changed(study: Sandbox, change: Change) -> Iterator[None]:
    """``study`` with ``change`` made; as it was afterwards."""
    before = study.config
    study.config = copy.deepcopy(before)
    changes = Changes(study)
    try:
        change(changes)
        study.write_config()
        yield
    finally:
        study.config = before
        changes.undo()
        study.write_config()


def _scorer(study: Changes) -> None:
    study.entry("scorers", "words", kind="rouge", variant="rougeL")
    study.grid(scorers=["minilm", "words"])


def _generator(study: Changes) -> None:
    study.entry("generators", "warm", model="resources/demo/model", prompt="tian2025", temperature=0.9, max_tokens=20)
    study.grid(generators=["demo-lm", "warm"])


def seed_and_run(study: Changes) -> None:
    """Two changes at once."""
    study.grid(seeds=[1, 2, 3])
    study.add("other", kind="run", path="mine.run")


def _references(**grades: int) -> Change:
    return lambda study: study.entry("datasets", "small", references=grades)


def _code(module: str) -> Change:
    return lambda study: study.edit_code(f"{CODE}/{module}")


CODE = "workflow/scripts/ragrelay"
DENSE = [*RETRIEVERS, "dense"]
FUSED = {"kind": "fusion", "retrievers": ["rel", "mine"]}
GRADED = {"kind": "graded", "min_label": 2, "max_label": 0, "relevant": 1}
CHANGES: dict[str, dict[str, Change]] = {
    "comment or docstring in the configuration, a template or the code": {
        "docstring": lambda study: study.edit(f"{CODE}/base/vocabulary/orderings.py", '"""', '# A comment.\n"""New: '),
        "template": lambda study: study.edit("config/prompts/tian2025.yaml", "\n", "\n# new\n"),
        "configuration": lambda study: study.append("config/config.yaml", "\n# new\n"),
    },
    "only modification times: `touch` on every input, a fresh clone": {"touch": Changes.touch},
    "retriever added": {
        "other": lambda study: study.add("other", kind="run", path="mine.run"),
        "some": lambda study: study.add("some", kind="oracle", min_label=1),
        "graded": lambda study: study.add("graded", **GRADED),
        "both": lambda study: study.add("both", **FUSED),
        "sharp: its index there": lambda study: study.add("sharp", kind="bm25", k1=2.0),
    },
    "retriever added that needs a new index": {
        "dense": lambda study: study.grid(retrievers=DENSE),
        "plain": lambda study: study.add("plain", kind="bm25", stemmer="none"),
    },
    "retriever removed": {name: partial(Changes.remove, name=name) for name in ("bm25", "nrel", "mine", "fused")},
    "retriever or run file edited": {
        "nrel": lambda study: study.entry("retrievers", "nrel", seed=7),
        "fused": lambda study: study.entry("retrievers", "fused", depth=20),
        "bm25, fused: key": lambda study: study.entry("retrievers", "bm25", k1=2.0),
        "mine, fused: run file": lambda study: study.edit("mine.run", " 9 x", " 9.5 x"),
    },
    "run files' header (`run_metadata`)": {"added": lambda study: study.config.update(run_metadata=True)},
    "ordering added": {"random": lambda study: study.grid(orderings=["descending", "ascending", "random"])},
    "ordering removed": {"ascending": lambda study: study.grid(orderings=["descending"])},
    "k added, up to `context_depth`": {"larger": lambda study: study.grid(k=[1, 2, 5])},
    "k removed": {"smaller": lambda study: study.grid(k=[2])},
    "seed added or removed": {
        "added": lambda study: study.grid(seeds=[1, 2, 3]),
        "removed": lambda study: study.grid(seeds=[2]),
    },
    "number of query shards": {"two": lambda study: study.entry("datasets", "small", shards=2)},
    "retrievers or orderings listed in a different order": {
        "retrievers": lambda study: study.grid(retrievers=RETRIEVERS[::-1]),
        "orderings": lambda study: study.grid(orderings=["ascending", "descending"]),
    },
    "measure added or removed": {"added": lambda study: study.grid(measures=["nDCG", "P"])},
    "lowest grade's label changed, or a lower grade added": {
        "added": _references(lenient=2, strict=3, any=1),
        "moved": _references(lenient=1, strict=3),
    },
    "another grade's label changed, or another grade added or removed": {"removed": _references(lenient=2)},
    "generator edited": {"demo-lm: temperature": lambda study: study.entry("generators", "demo-lm", temperature=0.5)},
    "generator added": {"warm: of the same template": _generator},
    "scorer edited": {"minilm: layer": lambda study: study.entry("scorers", "minilm", layer=5)},
    "scorer added": {"words: without a model": _scorer},
    "query or judgement edited": {"query": lambda study: study.edit("small/queries.tsv", "\t", "\tNow ")},
    "passage edited": {"passage": lambda study: study.edit("small/passages.jsonl", '"text": "', '"text": "Now ')},
    "prompt template edited": {"text": lambda study: study.edit("config/prompts/tian2025.yaml", "expert", "expert ")},
    "the analysis's `resamples` or `seed`": {
        "resamples": lambda study: study.config.update(analysis={**study.config["analysis"], "resamples": 400})
    },
    "an engine's code": {"engine": _code("generation/engine.py")},
    "BM25's code": {"bm25, fused: code": _code("retrieval/retrievers/bm25.py")},
    "the correlation's code": {"correlation": _code("analysis/correlation.py")},
    "code of the grid's scorer": {"minilm: bertscore": _code("scoring/scorers/bertscore.py")},
}
"""Row of the table → its cases: what they change, before a colon, of what wildcards name."""
