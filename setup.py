"""The wheel: the package, and inside it the workflow, in folders named as here."""

import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

PACKAGES = "workflow/scripts"
FILES = "ragrelay.workflow_files"
FOLDERS = [
    Path(folder)
    for folder in (
        *sorted(
            {path.parent for path in Path("workflow/scripts").glob("[!.]*/*.py")} - {Path("workflow/scripts/ragrelay")}
        ),
        "workflow/report",
        "workflow/report/fonts",
        "rules",
        "envs",
        "profiles",
        "profiles/default",
        "profiles/local",
        "profiles/slurm",
        "config",
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
# An annex's files that are no modules.
ANNEXES = ["*/rules.smk", "*/scripts/*.py", "*/templates/*", "*/captions/*"]


class WithSnakefile(build_py):
    """Copy the Snakefile, too, whose folder here is no package's: it would bring this file."""

    def run(self) -> None:
        """Build the packages, then copy."""
        super().run()
        shutil.copy2("Snakefile", Path(self.build_lib, *FILES.split(".")))


setup(
    cmdclass={"build_py": WithSnakefile},
    packages=[*find_packages(PACKAGES, include=["ragrelay*"]), *PLACES],
    package_dir={"": PACKAGES, **PLACES},
    package_data={"ragrelay": ["py.typed"], "ragrelay.annexes": ANNEXES, **{place: ["*"] for place in PLACES}},
    exclude_package_data={place: ["*.egg-info/*"] for place in PLACES},
)
