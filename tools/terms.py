"""Write the meanings of terms that pages of results explain, terms.json, from docs/glossary.md: `make docs`."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from ragrelay.report.display.terms import EXPLAINED, MEANINGS  # noqa: E402

GLOSSARY = ROOT / "docs" / "glossary.md"


def terms() -> dict[str, str]:
    """Return the glossary's meaning of each word of EXPLAINED, as plain text."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    known = {word: _plain(meaning) for names, meaning in rows[1:] for word in names.split(", ")}
    return {word: known[word] for word in EXPLAINED}


def written() -> str:
    """Return the file's text."""
    return json.dumps(terms(), ensure_ascii=False, indent=1) + "\n"


def _plain(meaning: str) -> str:
    """Return Markdown without links, code and emphasis."""
    return re.sub(r"[`*]", "", re.sub(r" ?\(\[[^]]*\]\([^)]*\)\)|\[([^]]*)\]\([^)]*\)", r"\1", meaning))


if __name__ == "__main__":
    MEANINGS.write_text(written(), encoding="utf-8")
