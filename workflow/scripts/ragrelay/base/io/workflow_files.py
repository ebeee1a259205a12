"""Locate the files that come with the workflow, in a checkout or an installed wheel."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2]
INSTALLED = PACKAGE / "workflow_files"
"""The folder with the workflow's files in a wheel (see setup.py), with the same structure as in a checkout."""
ROOT = INSTALLED if INSTALLED.is_dir() else PACKAGE.parents[2]
OWN = "resources/"
"""Prefix of the configuration's paths to the demo's collection and model and to published tables."""


def with_own_files(config: Mapping[str, object]) -> dict[str, object]:
    """Make paths to files in the workflow's ``resources/`` absolute, unless they exist in the user's folder."""
    return {key: _replaced(value) for key, value in config.items()}


def _replaced(value: Any) -> object:
    if isinstance(value, Mapping):
        return with_own_files(value)
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    own = isinstance(value, str) and value.startswith(OWN) and not Path(value).exists() and (ROOT / value).exists()
    return str(ROOT / value) if own else value
