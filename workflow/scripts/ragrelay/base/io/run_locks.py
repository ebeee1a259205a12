"""Tell whether a run of Snakemake is at work on a study, from the locks that it keeps in its working directory."""

from pathlib import Path

LOCKS = ".snakemake/locks/*.output.lock"


def at_work(folder: str | Path) -> bool:
    """Return whether a run has files of ``folder`` (``<working directory>/results/<study>``) among its outputs.

    A run that was killed leaves its lock. Files of Snakemake 9.27: each has the paths of a run's outputs, one a line.
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
