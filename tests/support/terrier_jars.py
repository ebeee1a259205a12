"""Terrier's jars for the tests: PyTerrier would fetch them from Maven Central at first use."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("terrier-assemblies-5.11-jar-with-dependencies.jar", "terrier-python-helper-0.0.8.jar")


def jars() -> Path | None:
    """The folder in RAGRELAY_TERRIER_JARS, or ``shared/terrier`` beside the checkout; None without both jars."""
    folder = Path(os.environ.get("RAGRELAY_TERRIER_JARS", ROOT.parent / "shared" / "terrier"))
    return folder if all((folder / name).is_file() for name in NAMES) else None


needs_terrier = pytest.mark.skipif(
    jars() is None or shutil.which("java") is None,
    reason="needs Java and Terrier's jars, in RAGRELAY_TERRIER_JARS or in shared/terrier beside the checkout",
)


def pyterrier_home(folder: Path) -> Path:
    """Make ``folder`` a home of PyTerrier that holds the jars."""
    found = jars()
    assert found is not None
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).symlink_to(found / name)
    return folder
