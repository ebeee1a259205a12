"""Make a virtual environment from its lock: ``python make_environment.py FOLDER cpu|cuda``, as `make setup` does.

It runs in the interpreter that the environment is made of, so it needs the standard library alone. Every package is
checked against the hashes of its lock. torch's CPU build has none there: it is taken from the places that pip is
configured with or, where they do not have it, from PyTorch's own index, and its version is checked once installed.
"""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent
SCRIPTS = REQUIREMENTS.parent / "workflow/scripts"
COSTS = {"cpu": "about 3 minutes and 5 GB of disk", "cuda": "several minutes and 9.4 GB of disk"}

INTERRUPTS = (
    "import sys; sys.excepthook = lambda kind, error, trace: "
    "sys.stderr.write('\\nragrelay: error: stopped by an interrupt: run the same command again\\n') "
    "if kind is KeyboardInterrupt and 'snakemake' in sys.argv[0] else sys.__excepthook__(kind, error, trace)"
)
"""A line of a .pth file: Ctrl-C while Snakemake imports, for a second or more, is one line in place of a traceback."""
TARGETS_FIRST = (
    "import os, sys; given = getattr(sys, 'argv', []); "
    "names = given[given.index('--configfile') + 1:] if '--configfile' in given else []; "
    "names = names[:next((place for place, name in enumerate(names) if name.startswith('-')), len(names))]; "
    "wrong = [name for name in names[1:] if name.isidentifier() and not os.path.exists(name)]; "
    "wrong and os.path.basename(given[0]) == 'snakemake' and (sys.stderr.write("
    "f'ragrelay: error: --configfile: found {wrong[0]}, which is no file; expected targets first: "
    "snakemake {wrong[0]} --configfile {names[0]}\\n'), os._exit(1))"
)
"""Another: Snakemake takes a target after ``--configfile FILE`` for a file, and ends before it reads the workflow."""


def make(folder: Path, accelerator: str) -> None:
    """Make ``folder`` anew; ends the program with one line where that fails."""
    if folder.is_symlink():  # clearing it would delete the files of the environment that it points to
        sys.exit(f"{folder}: found a symbolic link; expected a folder of this checkout, or none: remove the link")
    lock = REQUIREMENTS / f"{accelerator}.txt"
    version = "{}.{}".format(*sys.version_info)
    print(f"Making {folder} from {_shown(lock)} with Python {version}: {COSTS[accelerator]}.", flush=True)
    venv.create(folder, clear=True, with_pip=True)
    if accelerator == "cpu":
        _install_torch(folder, REQUIREMENTS / "cpu-torch.txt")
    if _pip(folder, "--require-hashes", "--requirement", lock).returncode:
        sys.exit(f"The environment could not be made from {_shown(lock)}: see pip's messages above.")
    if accelerator == "cpu":
        _check_torch(folder, REQUIREMENTS / "cpu-torch.txt")
    _compile(folder)
    _add_package(folder)
    (folder / ".accelerator").write_text(f"{accelerator}\n", encoding="utf-8")


def _pip(folder: Path, *arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    quiet = [] if sys.stdout.isatty() else ["--quiet", "--quiet"]
    command = [
        folder / "bin/python",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-compile",
        *quiet,
    ]
    return subprocess.run([*command, *arguments], text=True, **options)  # type: ignore[call-overload, no-any-return]


def _install_torch(folder: Path, lock: Path) -> None:
    """The one wheel that ``lock`` names, from where pip looks or else from PyTorch's index of CPU wheels."""
    if not _pip(folder, "--requirement", lock, stderr=subprocess.PIPE).returncode:
        return
    index = os.environ.get("TORCH_INDEX") or _lines(REQUIREMENTS / "torch-index.txt")[0]
    print(f"pip's places do not have {_lines(lock)[0]}: taking it from {index}.", flush=True)
    if _pip(folder, "--requirement", lock, "--index-url", index, stderr=subprocess.PIPE).returncode:
        pip = f"{folder}/bin/pip install --no-deps --index-url {index} -r {_shown(lock)}"
        sys.exit(f"{_lines(lock)[0]} is neither where pip is configured to look nor in {index}; pip says why: {pip}")


def _check_torch(folder: Path, lock: Path) -> None:
    """What was installed is the build that ``lock`` names, as it says itself."""
    expected = _lines(lock)[0].split("===")[1]
    command = [folder / "bin/python", "-c", "import torch; print(torch.__version__)"]
    said = subprocess.run(command, text=True, capture_output=True)
    found = (said.stdout or said.stderr).strip().splitlines()[-1]
    if found != expected:
        sys.exit(f"torch in {folder}: found {found}; expected {expected}, as {_shown(lock)} has it.")


def _compile(folder: Path) -> None:
    """Compile all modules, on all cores. Files that are no Python are left out, as by pip."""
    subprocess.run([folder / "bin/python", "-m", "compileall", "-qq", "-j", "0", folder / "lib"])


def _add_package(folder: Path) -> None:
    """Let the environment import ``ragrelay`` from this checkout, wherever Python is started, with both lines."""
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (packages / "ragrelay.pth").write_text(f"{SCRIPTS}\n{INTERRUPTS}\n{TARGETS_FIRST}\n", encoding="utf-8")


def _lines(path: Path) -> list[str]:
    """Lines of a requirements file without its comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
