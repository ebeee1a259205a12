"""What a release names: one version everywhere, and a citation that names the project's own entity and nobody else."""

import re
import tomllib

import pytest
import ragrelay
import yaml

from tests.support.sandbox import ROOT
from tools.release_notes import notes

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_one_version() -> None:
    """The package's is the only one; it is the changelog's newest, as a development version while that is prepared."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)( \(in preparation\))?$", changelog, re.MULTILINE)
    assert newest and ragrelay.__version__ == newest[1] + (".dev0" if newest[2] else "")
    texts = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("Snakefile", "CITATION.cff", "pyproject.toml", "setup.py")
    )
    assert not any(ragrelay.__version__ in text for text in texts)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "ragrelay.__version__"}


def test_the_citation_makes_nothing_up() -> None:
    """The format's schema (1.2.0) needs only a name of an entity; the project has no DOI, ORCID or address."""
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["authors"] == [{"name": "The ragrelay authors"}]
    assert not {"doi", "identifiers", "contact", "url", "repository", "repository-code"} & set(CITATION)
    for reference in CITATION["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)


CHANGES = "# Changelog\n\n## 1.1.0 (in preparation)\n\nnew\n\n## 1.0.0\n\nold\n\n### Part\n\nmore\n\n## 0.9\n\noldest\n"


def test_the_notes_of_a_release_are_its_section() -> None:
    """A tag that is not the package's version, or whose section is still in preparation, ends the release."""
    assert notes("v1.0.0", CHANGES, '__version__ = "1.0.0"\n') == "old\n\n### Part\n\nmore"
    for tag, version in (("v1.1.0", "1.0.0"), ("v1.1.0", "1.1.0"), ("v1.0.0", "1.0.0.dev0")):
        with pytest.raises(ValueError, match=f"tag {tag}: "):
            notes(tag, CHANGES, f'__version__ = "{version}"\n')


def test_the_release_runs_what_contributing_says() -> None:
    steps = [
        step["run"]
        for job in yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert any("pip wheel --no-deps" in step for step in steps) and "pip wheel --no-deps" in contributing
    assert sum("tools/release_notes.py" in step for step in steps) == 2 and "tools/release_notes.py" in contributing
