"""Print the changelog's section for a tag, the notes of its release: python tools/release_notes.py v0.2.0"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.compile('^__version__ = "(.+)"', re.MULTILINE)


def notes(tag: str, changelog: str, package: str) -> str:
    """Return the section of ``tag`` in ``changelog``.

    Args:
        tag: the version, maybe after a ``v``.
        changelog: the text of CHANGELOG.md.
        package: the text of the package's ``__init__.py``, which has its version.

    Raises:
        ValueError: the package or the changelog has another version.
    """
    version, found = tag.removeprefix("v"), VERSION.search(package)
    if found is None or found[1] != version:
        raise ValueError(f"tag {tag}: the package has version {found[1] if found else 'none'}")
    section = re.search(rf"^## {re.escape(version)}\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    if section is None:
        raise ValueError(f"tag {tag}: CHANGELOG.md has no finished section '## {version}'")
    return section[1].strip()


if __name__ == "__main__":
    texts = [(ROOT / name).read_text("utf-8") for name in ("CHANGELOG.md", "workflow/scripts/ragrelay/__init__.py")]
    try:
        print(notes(sys.argv[1], *texts))
    except ValueError as error:
        sys.exit(f"ragrelay: error: {error}")
