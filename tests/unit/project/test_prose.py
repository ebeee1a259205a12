"""Phrases that need a second reading may only become rarer: counts per 1,000 words and folder, against a baseline.

CONTRIBUTING.md#english has the rules, and the command that lowers the baseline.
"""

import ast
import io
import json
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tracked import tracked
from tools.blocks import by_hand

BASELINE = Path(__file__).with_name("prose.json")
PHRASES = {
    "of": r"\bof\b",
    "that of": r"\b(?:that|those) of\b",
    "one": r"\bones?\b",
    "own": r"\bown\b",
    "what": r"\bwhat (?:is|are|was|it|they|the|a)\b",
    "so many": r"\bso (?:many|much)\b",
    "whole": r"\bwhole\b",
    "anew": r"\banew\b",
    "beside": r"\bbesides?\b",
}
"""By name, what reads like a translation."""
SLACK = 0.05
"""By how much a count per 1,000 words may be above the baseline, which has two decimals."""
CODE = {"docstrings": "workflow/**/*.py", "comments": "workflow/**/*.py", "tests": "tests/**/*.py"}


def texts(kind: str) -> Iterator[str]:
    """The prose of a kind: pages written by hand, docstrings or comments of the package, or both of the tests."""
    if kind == "docs":
        for path in tracked("*.md", "docs/**/*.md", "profiles/**/*.md"):
            if path.name != "CHANGELOG.md":
                yield prose(by_hand(path.read_text(encoding="utf-8")))
        return
    for path in tracked(CODE[kind]):
        source = path.read_text(encoding="utf-8")
        if kind != "comments":
            yield from docstrings(ast.parse(source))
        if kind != "docstrings":
            tokens = tokenize.generate_tokens(io.StringIO(source).readline)
            yield from (token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Docstrings, and strings below an attribute or a constant."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


def prose(page: str) -> str:
    """A page without its code, tables' rules and addresses."""
    return re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|^\|[-| ]+\|$", " ", page, flags=re.DOTALL | re.MULTILINE)


def rates(kind: str) -> dict[str, float]:
    """How often each phrase comes in 1,000 words."""
    counts: Counter[str] = Counter()
    for text in texts(kind):
        counts["words"] += len(re.findall(r"[A-Za-z]+", text))
        for name, phrase in PHRASES.items():
            counts[name] += len(re.findall(phrase, text, re.IGNORECASE))
    return {name: round(1000 * counts[name] / counts["words"], 2) for name in PHRASES}


KINDS = ("docs", *CODE)


@pytest.mark.parametrize("kind", KINDS)
def test_no_phrase_becomes_more_frequent(kind: str) -> None:
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))[kind]
    now = rates(kind)
    assert baseline.keys() == now.keys()
    assert {name: (rate, baseline[name]) for name, rate in now.items() if rate > baseline[name] + SLACK} == {}


def test_phrases_are_counted() -> None:
    assert prose("Of `of` [the page](of.md).\n```\nof\n```\n").split() == ["Of", "[the", "page", "."]
    tree = ast.parse('"""One of them."""\nLEAST = 3\n"""So many are needed."""\ndef f():\n    """Return its own."""\n')
    assert [*docstrings(tree)] == ["One of them.", "So many are needed.", "Return its own."]


if __name__ == "__main__":
    known = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.is_file() else {}
    least = {kind: {name: min(rate, known.get(kind, {}).get(name, rate)) for name, rate in rates(kind).items()}
             for kind in KINDS}  # fmt: skip
    BASELINE.write_text(json.dumps(least, indent=2) + "\n", encoding="utf-8")
