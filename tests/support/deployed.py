"""The workflow as others get it: a repository with a tag, a wheel, and a folder that `snakedeploy` filled."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.sandbox import ROOT

SNAKEFILE = """
from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


# declare https://github.com/{address} as a module
module ragrelay:
    snakefile:
        github("{address}", path="workflow/Snakefile", tag="{tag}")
    config:
        config


# use all rules from https://github.com/{address}
use rule * from ragrelay
"""
"""As snakedeploy 0.17.1 writes ``workflow/Snakefile``."""
ADDRESS, TAG = "a-lab/ragrelay", "v1"


class Deployed(NamedTuple):
    """``folder`` has the deployed Snakefile, configuration and profiles, ``packages`` the installed wheel alone."""

    folder: Path
    packages: Path
    repository: Path

    def environment(self) -> dict[str, str]:
        """Git takes the repository for what is at the address; Snakemake caches what it fetched in a new folder."""
        return {
            **os.environ,
            "PYTHONPATH": str(self.packages),
            "XDG_CACHE_HOME": str(self.folder.parent / "fetched"),
            "HF_HUB_OFFLINE": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{self.repository}.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://github.com/{ADDRESS}",
        }

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment(), text=True, capture_output=True)


def deploy(folder: Path) -> Deployed:
    """Make in ``folder`` a repository of this working tree, install its wheel, and fill a folder as a user does."""
    repository, packages, own = folder / "repository", folder / "packages", folder / "own"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, text=True, capture_output=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith(("tests/", "benchmarks/")) and (ROOT / name).exists():
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, repository / name, follow_symlinks=False)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "all"], ["tag", TAG]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    built = folder / "built"
    shutil.copytree(repository, built, symlinks=True)
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(built)]
    subprocess.run(wheel, check=True)
    (found,) = folder.glob("ragrelay-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", packages, found], check=True)
    for part in ("config", "profiles"):
        shutil.copytree(repository / part, own / part)
    (own / "workflow").mkdir()
    (own / "workflow/Snakefile").write_text(SNAKEFILE.format(address=ADDRESS, tag=TAG), encoding="utf-8")
    return Deployed(own, packages, repository)
