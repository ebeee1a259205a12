"""Cases of the comparison of studies for shared tables (tests.support.annex_cases)."""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.support.bad_input_changes import Case, Expected, key
from tests.support.changes import CODE

CEILING = {"annex compare": 2400}  # tests of it that the core had; unseen references; changes in other cells
BAD_INPUT = {
    "Configuration": [
        Case("Braces in a compared study's path", key("compare", {"before": "results/{study}", "after": "mine"})),
    ]
}
HOSTILE: list[Expected] = [
    ("a secret in compare.before", key("compare.before", "glpat-aB3dE6gH9jK1aB3dE6gH"), "found ")
]


TARGETS = {"compared": "compare", "rare": "compare"}
EARLIER, LATER = "earlier", "later"
CONFIG = {
    "compared": {"compare": {"before": EARLIER, "after": "small"}},
    "rare": {"compare": {"before": EARLIER, "after": LATER}},
    "rare params": {"compare": {"pairs": {"retrievers": {"rel": "nrel"}}}},
}
EDITS = {
    "rare inputs": [
        (f"{CODE}/annexes/compare/templates/compare.html.j2", "{% block body %}", "{% block body %}<!-- new -->")
    ],
    "rare code": [(f"{CODE}/annexes/compare/page.py", "{before.label} → ", "{before.label} to ")],
}


def _copies(*names: str) -> Callable[[Path], None]:
    """Copy the study's results as those of other studies."""
    return lambda folder: [shutil.copytree(folder / "results/small", folder / "results" / name) for name in names]


FILES = {"compared": _copies(EARLIER), "rare": _copies(EARLIER, LATER)}
RARELY = {"compare_studies"}
NO_FILE_KEYS = {"before", "after"}
