"""A Dockerfile's steps by chroot in a bare root folder, where no image can be fetched."""

import contextlib
import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mounts import mounted

CONTINUED = re.compile(r"\\\n")


def steps(dockerfile: Path) -> list[tuple[str, str]]:
    """Instruction and argument of each step, in order, without comments."""
    text = "\n".join(line for line in dockerfile.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    lines = CONTINUED.sub(" ", text).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def files_for(context: Path) -> list[str]:
    """What a build takes from a checkout: what git knows of, less what .dockerignore names."""
    ignored = (context / ".dockerignore").read_text(encoding="utf-8").split()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=context, check=True, text=True, capture_output=True,
    ).stdout.split("\0")  # fmt: skip
    return [
        name
        for name in filter(None, listed)
        if (context / name).exists() and not any(fnmatch.fnmatch(Path(name).parts[0], one) for one in ignored)
    ]


class BareRoot:
    """A root folder with Debian's minimal packages, in which a Dockerfile's steps are run."""

    def __init__(self, folder: Path, base: str) -> None:
        """``base`` is the image's name, as ``debian:bookworm-slim``."""
        if os.geteuid() or not shutil.which("mmdebstrap"):
            pytest.skip("needs root and mmdebstrap")
        suite = base.removeprefix("debian:").removesuffix("-slim")
        made = subprocess.run(["mmdebstrap", "--variant=minbase", suite, str(folder)], text=True, capture_output=True)
        assert made.returncode == 0, made.stderr[-3000:]
        self.folder, self.place = folder, "/"
        self.variables: dict[str, str] = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.command: list[str] = []
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")

    def build(self, dockerfile: Path, **arguments: str) -> None:
        """Run every step after FROM."""
        for word, rest in steps(dockerfile)[1:]:
            if word == "ARG":
                name, _, default = rest.partition("=")
                self.variables[name] = arguments.get(name, default)
            elif word == "ENV":
                name, _, value = rest.partition("=")
                self.variables[name] = value.replace("$PATH", self.variables["PATH"])
            elif word == "WORKDIR":
                self.place = rest
                (self.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif word == "COPY":
                self._copy(dockerfile.parent, *shlex.split(rest))
            elif word == "CMD":
                self.command = rest.strip("[]").replace('"', "").split(", ")
            else:
                assert word == "RUN", f"{word}: a step that this stand-in does not know"
                done = self.run(rest)
                assert done.returncode == 0, f"{rest}\n{(done.stdout + done.stderr)[-3000:]}"

    def _copy(self, context: Path, source: str, target: str) -> None:
        into = self.folder / self.place.lstrip("/") / target
        for name in files_for(context):
            if source in (".", name) or name.startswith(f"{source}/"):
                copied = into / (name if source in (".", name) else Path(name).relative_to(source))
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(context / name, copied, follow_symlinks=False)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run ``command`` in the root folder, with pip's places of this machine."""
        variables = {**pips_settings(), **self.variables, "HOME": "/root"}
        if cert := variables.get("PIP_CERT"):
            variables["PIP_CERT"] = "/etc/pips-cert.pem"
            shutil.copy(cert, self.folder / "etc/pips-cert.pem")
        call = ["chroot", str(self.folder), "sh", "-c", f"cd {shlex.quote(self.place)} && {command}"]
        with contextlib.ExitStack() as stack:
            for kind, place in (("proc", "proc"), ("sysfs", "sys")):  # vLLM reads the processor's cores there
                stack.enter_context(mounted(self.folder / place, "-t", kind, kind))
            for path in local_places(variables):
                inside = self.folder / path.relative_to("/")
                inside.mkdir(parents=True, exist_ok=True)
                stack.enter_context(mounted(inside, "--bind", "-o", "ro", str(path)))
            return subprocess.run(call, env=variables, text=True, capture_output=True)


def pips_settings() -> dict[str, str]:
    """Return variables that say where pip takes packages from on this machine."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(pip, check=True, text=True, capture_output=True).stdout
    found = dict(re.findall(r"^(?:global|:env:)\.([a-z-]+)='(.*)'$", said, re.MULTILINE))
    kept = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert", "proxy")
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {f"PIP_{name.replace('-', '_').upper()}": found[name] for name in kept if name in found} | proxies


def local_places(variables: dict[str, str]) -> list[Path]:
    """Folders of this machine that ``variables`` of pip name; of an index, the one that also has its files."""
    words = [
        word.removeprefix("file://")
        for name in variables
        if name.startswith("PIP_")
        for word in variables[name].split()
    ]
    folders = [Path(word) for word in words if word.startswith("/") and Path(word).is_dir()]
    return [folder.parent if folder.name == "simple" else folder for folder in folders]
