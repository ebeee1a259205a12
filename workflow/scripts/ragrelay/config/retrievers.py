"""Retrievers' definitions: what an engine decides of their defaults, what they stand on, and whether they can work."""

import ast
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from ragrelay.errors import InputError, one_of
from ragrelay.io.hashing import file_hash
from ragrelay.models.locations import check_model, check_tokenizer

ENGINES: dict[str, dict[str, Any]] = {
    "pisa": {"k1": 0.9, "b": 0.4, "stemmer": "porter2"},
    "terrier": {"k1": 1.2, "b": 0.75, "stemmer": "porter"},
}
STEMMERS = {"pisa": ("porter2", "krovetz", "none"), "terrier": ("porter", "none")}
FEEDBACK: dict[str, Any] = {"feedback_passages": 3, "feedback_terms": 10}
RM3_WEIGHT = "original_weight"

Catalogue = Mapping[str, Mapping[str, Any]]


def complete(definition: Mapping[str, Any], folder: Path = Path()) -> dict[str, Any]:
    """``definition`` with the defaults that depend on its other keys, keys in sorted order.

    A ``kind: pyterrier`` gets ``code``, a hash of the module of each function it names, so that an edit is a change.
    """
    found = dict(definition)
    if found["kind"] == "bm25":
        found = ENGINES[found["engine"]] | found
        if "expansion" in found:
            found = FEEDBACK | ({RM3_WEIGHT: 0.6} if found["expansion"] == "rm3" else {}) | found
    if found["kind"] == "pyterrier":
        files = {key: _module_file(found[key], folder) for key in ("pipeline", "index") if key in found}
        found["code"] = {key: file_hash(path)[:16] for key, path in files.items() if path}
    return dict(sorted(found.items()))


def stages(definition: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The retrievers whose runs ``definition`` is made of, as (key that names it, name)."""
    if definition["kind"] == "fusion":
        return [("retrievers", name) for name in definition["retrievers"]]
    return [("first_stage", definition["first_stage"])] if "first_stage" in definition else []


def needed(names: Sequence[str], catalogue: Catalogue) -> list[str]:
    """``names`` and all that they stand on, sorted. Raises InputError for an unknown or circular one."""
    found: set[str] = set()
    for name in names:
        found |= _below(name, catalogue, [])
    return sorted(found)


def _below(name: str, catalogue: Catalogue, path: list[str]) -> set[str]:
    path = [*path, name]
    found = {name}
    for key, stage in stages(catalogue[name]):
        place = f"config key 'retrievers.{name}.{key}'"
        if stage not in catalogue:
            raise InputError(place, repr(stage), one_of(catalogue, stage))
        if stage in path:
            raise InputError(place, "a circle " + " → ".join([*path[path.index(stage) :], stage]), "an end")
        found |= _below(stage, catalogue, path)
    return found


def check_retriever(name: str, given: Mapping[str, Any], smallest_k: int, folder: Path) -> None:
    """Raise InputError where retriever ``name``, defined as ``given``, can't work in a grid with ``smallest_k``."""
    place = f"config key 'retrievers.{name}"
    if given.get("min_label", -inf) > given.get("max_label", inf) and given["kind"] == "oracle":
        raise InputError(place + "'", "min_label above max_label", "min_label ≤ max_label")
    if given["kind"] in ("graded", "position") and given["max_label"] >= given["min_label"]:
        raise InputError(place + "'", "max_label not below min_label", "max_label < min_label")
    if given["kind"] == "position" and given["place"] > smallest_k:
        expected = f"at most the grid's smallest k, {smallest_k}: a shorter context has no such place"
        raise InputError(place + ".place'", str(given["place"]), expected)
    if given["kind"] == "bm25":
        _check_bm25(place, given)
    if given["kind"] == "dense" and given["encoder"] != "sentence_transformers":
        for key in ("query_prefix", "passage_prefix"):
            if given[key]:
                raise InputError(f"{place}.{key}'", repr(given[key]), f"none: encoder {given['encoder']} has its own")
    if "tokenizer" in given:
        if given["reranker"] != "monot5":
            raise InputError(f"{place}.tokenizer'", repr(given["tokenizer"]), "it with reranker monot5 alone")
        check_tokenizer(f"{place}.tokenizer'", given["tokenizer"], folder)
    if "model" in given:
        lone = given["kind"] == "rerank" and "tokenizer" not in given
        check_model(place + ".model'", given["model"], folder, tokenizer=lone)
    for key in ("pipeline", "index") if given["kind"] == "pyterrier" else ():
        if key in given:
            _check_function(f"{place}.{key}'", given[key], folder)


def _check_bm25(place: str, given: Mapping[str, Any]) -> None:
    engine = given["engine"]
    if given["stemmer"] not in STEMMERS[engine]:
        expected = f"one of {', '.join(STEMMERS[engine])} with engine {engine}"
        raise InputError(place + ".stemmer'", repr(given["stemmer"]), expected)
    if "expansion" in given and engine != "terrier":
        raise InputError(place + ".expansion'", f"{given['expansion']!r} with engine {engine}", "engine terrier")
    for key in (*FEEDBACK, RM3_WEIGHT):
        alone = ("rm3",) if key == RM3_WEIGHT else ("rm3", "bo1", "kl")
        if key in given and given.get("expansion") not in alone:
            raise InputError(f"{place}.{key}'", str(given[key]), f"it beside expansion {' or '.join(alone)} alone")


def _check_function(place: str, name: str, folder: Path) -> None:
    module, _, function = name.partition(":")
    path = _module_file(name, folder)
    if path is None:
        expected = f"a module {module.replace('.', '/')}.py beside the study, or an installed one"
        raise InputError(place, f"no module {module!r}", expected)
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    if function not in _names(tree):
        raise InputError(place, f"no function {function!r} in {path}", "one at the top of the module")


def _names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _module_file(name: str, folder: Path) -> Path | None:
    """The source file of the module in ``module:function``; the module itself is not run."""
    with importable(folder):
        try:
            spec = importlib.util.find_spec(name.partition(":")[0])
        except (ImportError, ValueError):
            return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Let modules in ``folder`` be imported, before those of the same name elsewhere."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)
