"""Group jobs that request the same resources from SLURM, and test each request before any job is submitted."""

import getpass
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragrelay.base.errors import InputError, one_of

PLACEHOLDERS = {"slurm_partition": ("cpu", "gpu"), "slurm_account": ("my-account",)}
"""Values in profiles/slurm that every user must replace."""
KNOWN = {
    "slurm_partition": ("sinfo", "--all", "--noheader", "--format=%R"),
    "slurm_account": ("sacctmgr", "--noheader", "--parsable2", "show", "associations", "format=account", "user={user}"),
}
"""For each key, the command that lists the values that exist on the cluster or that the user may use."""
HEADER = ("jobs", "number", "partition", "account", "GPUs", "cores", "memory (MB)", "time (h:mm)")


@dataclass(frozen=True)
class Submissions:
    """Jobs, or groups of jobs submitted together, that request the same resources from SLURM."""

    name: str
    """The name of the rule or group."""
    number: int
    resources: Mapping[str, object]
    """Resources for the first attempt, named as in the profile and the rules. `_cores` is the number of threads."""
    command: Sequence[str]
    """The sbatch command that would submit one of the jobs, without the script."""

    def row(self) -> tuple[str, ...]:
        """Return the values for the columns in HEADER, as strings."""
        resources = self.resources
        gpus = " ".join(str(resources[name]) for name in ("gpu", "gpu_model", "gres") if resources.get(name))
        minutes = resources.get("runtime")
        time = f"{minutes // 60}:{minutes % 60:02}" if isinstance(minutes, int) else minutes
        names = ("slurm_partition", "slurm_account", "_cores", "mem_mb")
        partition, account, cores, memory = (resources.get(name) for name in names)
        values = (partition, account, gpus, cores, memory)
        return (self.name, str(self.number), *("" if value is None else str(value) for value in (*values, time)))


def submission_table(classes: Sequence[Submissions], answers: Sequence[str] = ()) -> str:
    """Return a table for the terminal with one line per item in ``classes`` and, if given, SLURM's ``answers``."""
    rows = [HEADER, *(group.row() for group in classes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)) for row in rows]
    ends = ["SLURM's answer", *answers] if answers else [""] * len(rows)
    return "\n".join(f"{line}  {end}".rstrip() for line, end in zip(lines, ends, strict=True))


def placeholders(classes: Iterable[Submissions]) -> dict[str, list[str]]:
    """Return the placeholders from profiles/slurm that the jobs' requests still contain, grouped by profile key."""
    left = {
        key: sorted({str(group.resources.get(key)) for group in classes} & {*values})
        for key, values in PLACEHOLDERS.items()
    }
    return {key: values for key, values in left.items() if values}


def check_placeholders(classes: Sequence[Submissions]) -> None:
    """Raise InputError if a request has a placeholder from profiles/slurm that isn't a valid name on this cluster."""
    for key, values in placeholders(classes).items():
        known = {line.strip() for line in _lines(KNOWN[key])}
        if unknown := [value for value in values if value not in known]:
            found = f"{', '.join(map(repr, unknown))}, which is a placeholder in profiles/slurm"
            without = ", or this key removed" if key == "slurm_account" else ""
            expected = (
                one_of(sorted(known - {""})) + without if known - {""} else f"a value that your cluster has{without}"
            )
            raise InputError(f"profile key {key!r}", found, expected)


def _ask(group: Submissions) -> tuple[bool, str]:
    """Test whether SLURM would accept such a job, without submitting it. Also return SLURM's message."""
    try:
        done = subprocess.run([*group.command, "--test-only", "--wrap=true"], capture_output=True, text=True)
    except FileNotFoundError:
        raise InputError("target check_cluster", "no sbatch on this machine", "the login node of a cluster") from None
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.returncode == 0, re.sub(r"^sbatch: (error: |Job \d+ )?", "", lines[-1]) if lines else "nothing"


def has_accounting() -> bool:
    """Return whether the command sacct works, which Snakemake's executor needs for its efficiency report."""
    try:
        return subprocess.run(["sacct", "--noheader", "--starttime=now"], capture_output=True).returncode == 0
    except OSError:
        return False


def check(classes: Sequence[Submissions]) -> tuple[str, int]:
    """Return the submission table with SLURM's answers, and the number of ``classes`` that SLURM would reject."""
    answers = [_ask(group) for group in classes]
    table = submission_table(classes, [message for _, message in answers])
    return table, sum(not accepted for accepted, _ in answers)


def _lines(command: Sequence[str]) -> list[str]:
    """Return the lines that a SLURM command prints; empty if the command is missing or fails."""
    words = [word.format(user=getpass.getuser()) for word in command]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []
