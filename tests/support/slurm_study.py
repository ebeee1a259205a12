"""The small study, sent to the tests' cluster with `--profile profiles/slurm` as it is shipped."""

import sys

import yaml

from tests.support.cluster import Cluster
from tests.support.sandbox import ROOT, Sandbox

PROFILE = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
DRIVER = "tests/support/eager_snakemake.py"
# Only the waiting is shortened, here and by the driver, and two cores are shared out as the cluster's eight.
FASTER = ("--latency-wait", "5", "--set-threads", "index=2", "retrieval=2", "scoring=2")


class SlurmStudy(Sandbox):
    """``jobs(...)`` are sacct's records of this cluster's jobs since the study was made, by rule or group."""

    forked = False
    cluster: Cluster
    first: int
    """The lowest id that a job of it can have: sacct hears of others seconds after they were cancelled."""

    @classmethod
    def of(cls, study: Sandbox, cluster: Cluster) -> "SlurmStudy":
        """``study`` itself, its jobs from now on sent to ``cluster``."""
        sent = cls.at(study.folder)
        sent.cluster, sent.first = cluster, cluster.next_job()
        return sent

    def command(self, *arguments: str) -> list[str]:
        profile = ["--profile", "profiles/slurm", "--configfile", "small.yaml"]
        return [sys.executable, "-P", str(ROOT / DRIVER), *arguments, *FASTER, *profile]

    def environment(self) -> dict[str, str]:
        return {**self.cluster.environment, "PYTHONPATH": ""}

    def jobs(self, *states: str) -> list[dict[str, str]]:
        return [record for record in self.cluster.jobs(*states) if int(record["JobIDRaw"]) >= self.first]

    def gpu_jobs(self, *states: str) -> list[dict[str, str]]:
        return [job for job in self.jobs(*states) if job["Partition"] == "gpu"]


def what(job: dict[str, str]) -> str:
    """A job's rule or group, and its wildcards, as the executor writes them into SLURM's comment."""
    return job["Comment"].removeprefix("rule_").replace("_wildcards_", " ")
