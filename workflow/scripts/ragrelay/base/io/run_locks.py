"""Detect whether Snakemake is running on a study, using the lock files in Snakemake's working directory."""

from pathlib import Path

LOCKS = ".snakemake/locks/*.output.lock"


def at_work(folder: str | Path) -> bool:
    """Return whether a Snakemake run has locked outputs in ``folder`` (``<working directory>/results/<study>``).

    A killed run leaves its lock behind. In Snakemake 9.27, a lock file lists a run's outputs, one path per line.
    """
    folder = Path(folder).absolute()
    directory = folder.parent.parent
    own = {f"{folder.relative_to(directory).as_posix()}/", f"{folder.as_posix()}/"}
    for lock in directory.glob(LOCKS):
        try:
            lines = lock.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue  # the run has ended
        if any(line.startswith(tuple(own)) for line in lines):
            return True
    return False
