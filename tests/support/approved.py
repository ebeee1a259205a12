"""Approved texts: what a page says is compared with files, which python -m tools.approved_pages writes anew.

A change of wording is seen as a change of these files.
"""

import ast
import os
import re
from collections.abc import Iterable
from pathlib import Path

RENEW = "RENEW_APPROVED_PAGES"


def approve(file: Path, texts: Iterable[str]) -> None:
    """Compare ``texts``, a line each, with the approved ``file``; where RENEW is set, write them there."""
    lines = "".join(f"{text}\n" for text in texts)
    if os.environ.get(RENEW):
        file.parent.mkdir(exist_ok=True)
        file.write_text(lines, encoding="utf-8")
    said = file.read_text(encoding="utf-8") if file.is_file() else ""
    assert lines == said, f"{file.name} is to be renewed by python -m tools.approved_pages, if this is what to say"


def literals(path: Path) -> list[str]:
    """The texts in a module's code, without docstrings: of an f-string what is between its values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    return [piece for text in texts for piece in re.split(r"\{\w*\}", text)]


def not_approved(module: Path, *places: Path) -> list[str]:
    """The texts of more than three words in the code of ``module`` that no approved file has.

    ``places`` are folders of approved files, and tests that have a text of states that no approved page is of.
    """
    pages = [file.read_text(encoding="utf-8") for folder in places for file in folder.glob("*.txt")]
    tests = [re.sub(r"\s+", " ", " ".join(literals(file))) for file in places if file.suffix == ".py"]
    known = "\n".join([*pages, *tests])
    words = [(piece.strip(" .,;:()"), re.findall(r"[^\W\d_]{2,}", piece)) for piece in literals(module)]
    return [piece for piece, found in words if len(found) > 3 and " " in piece and piece not in known]
