"""Ends whatever a cluster left behind and removes its folder, once the process that started it is gone or says so.

Run as ``python janitor.py FOLDER`` with a pipe as standard input: the kernel closes it when that process ends, however.
"""

import shutil
import sys
from pathlib import Path

import psutil


def left(folder: Path) -> list[psutil.Process]:
    """Processes of the cluster in ``folder``: its daemons, its jobs, and drivers that submit to it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != psutil.Process().pid and str(folder) in _signs(process):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _signs(process: psutil.Process) -> str:
    """Return the environment of a process, or the sockets of slurmstepd, which empties its own."""
    if process.name() == "slurmstepd":
        return "\n".join(str(one.laddr) for one in process.net_connections("unix"))
    return "\n".join(process.environ().values())


def main(folder: Path) -> None:
    sys.stdin.read()
    while processes := left(folder):
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(processes, timeout=5)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
