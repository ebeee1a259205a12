"""What a release names: one version everywhere, and a citation that names the project's own entity and nobody else."""

import re
import tomllib

import ragrelay
import yaml

from tests.support.sandbox import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_one_version() -> None:
    """Of the package, of the Snakefile that asks for it, of the citation, and the newest in the changelog."""
    snakefile = re.search(r'^VERSION = "(.+)"$', (ROOT / "Snakefile").read_text(encoding="utf-8"), re.MULTILINE)
    newest = re.search(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert snakefile and newest
    assert {snakefile[1], newest[1], CITATION["version"]} == {ragrelay.__version__}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "ragrelay.__version__"}


def test_the_citation_makes_nothing_up() -> None:
    """By the format's schema (1.2.0) an entity needs a name alone; the project has no DOI, ORCID or address."""
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["authors"] == [{"name": "The ragrelay authors"}]
    assert not {"doi", "identifiers", "contact", "url", "repository", "repository-code"} & set(CITATION)
    for reference in CITATION["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
