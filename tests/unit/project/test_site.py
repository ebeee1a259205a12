"""What the site of the documentation is built from; `make docs` builds it, and a broken link ends that."""

from pathlib import Path
from typing import Any

import yaml

from tests.support.sandbox import ROOT
from tools.site import LINK, collect

MKDOCS = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def in_nav(part: Any) -> set[str]:
    if isinstance(part, str):
        return {part}
    return {page for one in (part if isinstance(part, list) else part.values()) for page in in_nav(one)}


def test_every_page_is_in_the_navigation(tmp_path: Path) -> None:
    collect(tmp_path)
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    assert {page for page in pages if not page.startswith("resources/")} == in_nav(MKDOCS["nav"])


def test_links_lead_to_what_was_collected(tmp_path: Path) -> None:
    collect(tmp_path)
    links = [(page, link) for page in tmp_path.rglob("*.md") for link in LINK.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 100
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    collect(tmp_path)
    text = (tmp_path / "docs/pyterrier.md").read_text(encoding="utf-8")
    assert text.startswith("# Answers in a PyTerrier experiment\n") and "```python\nimport pyterrier as pt\n" in text
