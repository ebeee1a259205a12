"""The wheel: the package, and below it the workflow's files that it reads, in folders named as here."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = "workflow/scripts"
FILES = "ragrelay.workflow_files"
# Scripts are read for their digests, the rest when a study runs in a folder without a checkout.
FOLDERS = [
    Path(folder)
    for folder in (
        *sorted(
            {path.parent for path in Path("workflow/scripts").glob("[!.]*/*.py")} - {Path("workflow/scripts/ragrelay")}
        ),
        "workflow/report",
        "workflow/report/fonts",
        "config/prompts",
        "config/claim_prompts",
        "config/judge_prompts",
        "config/nugget_prompts",
        "resources/demo/claims",
        "resources/demo/collection",
        "resources/demo/model",
        "resources/published",
    )
]
PLACES = {".".join((FILES, *folder.parts)): str(folder) for folder in FOLDERS}
# An annex's other files: scripts for digests, templates for pages, and rules, which tell the Snakefile what to include.
ANNEXES = ["*/rules.smk", "*/scripts/*.py", "*/templates/*", "*/captions/*"]

setup(
    packages=[*find_packages(PACKAGES, include=["ragrelay*"]), *PLACES],
    package_dir={"": PACKAGES, **PLACES},
    package_data={"ragrelay": ["py.typed"], "ragrelay.annexes": ANNEXES, **{place: ["*"] for place in PLACES}},
    exclude_package_data={place: ["*.egg-info/*"] for place in PLACES},
)
