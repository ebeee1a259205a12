"""What a release names: one version everywhere, and a citation that names the project's own entity and nobody else."""

import re
import tomllib

import ragrelay
import yaml

from tests.support.sandbox import ROOT

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
