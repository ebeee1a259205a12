"""Define the installed wheel's ``ragrelay`` command, which runs Snakemake with the workflow packaged in the wheel."""

import os
import shlex
import sys
from pathlib import Path

import ragrelay
from ragrelay.base.display.terminal import say, tell
from ragrelay.base.io.workflow_files import ROOT

HELP = f"""ragrelay {ragrelay.__version__}: is relevance relayed from the retriever to the answer?

ragrelay demo                                run the demo with a small language model (3 to 6 minutes on two cores)
ragrelay doctor                              check this machine
ragrelay --cores 2 --configfile my-study.yaml
                                             run a study; all other arguments go to snakemake too

Paths to the workflow's own files, such as profiles/slurm or config/paper.yaml, refer to the copies in the wheel if the
working folder has none. To list all targets: ragrelay --list"""
CORES = ("--cores", "-c", "--jobs", "-j", "--profile", "--executor", "-e")
"""Options that tell Snakemake how many cores to use. At least one of them is required."""
OWN = ("profiles", "config")
"""The workflow's folders with files that users may name on the command line."""


def main() -> None:
    """Run the command ``ragrelay``."""
    given = sys.argv[1:]
    if not given or given[0] in ("--help", "-h", "help"):
        say(HELP)
    elif given[0] in ("--version", "-v"):
        say(ragrelay.__version__)
    elif given == ["doctor"]:
        from ragrelay.execution.doctor import examine

        sys.exit(examine())
    else:
        command = [sys.executable, "-m", "snakemake", *snakemake_arguments(given)]
        tell(shlex.join(["snakemake", *command[3:]]))
        os.execv(command[0], command)


def snakemake_arguments(given: list[str]) -> list[str]:
    """Convert arguments of the ``ragrelay`` command into arguments for Snakemake."""
    if given[0] == "demo":
        given = ["--configfile", "config/demo_real.yaml", *given[1:]]
    named = {argument.partition("=")[0] for argument in given}
    cores = [] if named & {*CORES} or any(each[:2] in ("-c", "-j") for each in named) else ["--cores", "all"]
    return ["--snakefile", str(ROOT / "Snakefile"), *cores, *map(_own, given)]


def _own(argument: str) -> str:
    """If ``argument`` is a path that only exists in the workflow, return that path; otherwise return the argument."""
    own = not Path(argument).exists() and argument.partition("/")[0] in OWN and (ROOT / argument).exists()
    return str(ROOT / argument) if own else argument
