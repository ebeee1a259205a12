"""Write the hashes of the functions of Snakemake's versions on which the workflow relies.

python tools/snakemake_hashes.py [VERSION ...]

For each VERSION (by default the newest), pip downloads the wheel; a line per function that has an unknown hash follows.
Ends with 1 if there is one. ``execution/jobs/snakemake_internals.py`` says what to do with it.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
INTERNALS = ROOT / "workflow/scripts/ragrelay/execution/jobs/snakemake_internals.py"
LOOK = """
import sys
sys.path[:0] = {paths!r}
import snakemake.cli
from ragrelay.execution.jobs.snakemake_internals import DECIDING, SCHEDULING, _source_hash, __version__
print(__version__)
for name, known in (DECIDING | SCHEDULING).items():
    found = _source_hash(name)
    if found not in known.split():
        print(f"{{name}}: {{found}}")
"""


def unknown(version: str, folder: Path) -> list[str]:
    """Return the version that pip finds for ``version``, and a line per function with an unknown hash."""
    asked = f"snakemake=={version}" if version else "snakemake"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    subprocess.run([*pip, "--only-binary", ":all:", "--dest", folder, asked], check=True)
    [wheel] = folder.glob("*.whl")
    ZipFile(wheel).extractall(folder / "package")
    look = LOOK.format(paths=[str(folder / "package"), str(ROOT / "workflow/scripts")])
    done = subprocess.run([sys.executable, "-c", look], text=True, capture_output=True)
    if done.returncode:
        return [version, f"it can't be imported: {done.stderr.strip().splitlines()[-1]}"]
    return done.stdout.split("\n")[:-1]


def main() -> None:
    """Look at the versions that the command line names."""
    new = 0
    for version in sys.argv[1:] or [""]:
        with tempfile.TemporaryDirectory() as folder:
            found, *lines = unknown(version, Path(folder))
        print(*(re.sub("^", f"{found}  ", line) for line in lines or ["all known"]), sep="\n")
        new += len(lines)
    sys.exit(bool(new))


if __name__ == "__main__":
    main()
