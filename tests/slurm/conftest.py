"""One cluster for all tests here; they are skipped where the machine can't have one, except in CI."""

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster, missing_programs
from tests.support.janitor import left
from tests.support.sandbox import Sandbox
from tests.support.slurm_study import PROFILE, SlurmStudy


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    lacking = [f"program {name}" for name in missing_programs()] + (["root"] if os.geteuid() else [])
    if lacking:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"the cluster needs: {', '.join(lacking)}")
    cluster = Cluster(account=PROFILE["default-resources"]["slurm_account"])
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
    assert not cluster.folder.exists()
    assert not left(cluster.folder)


@pytest.fixture(scope="session")
def submitted(cluster: Cluster, finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> SlurmStudy:
    """The small study, run to its report by SLURM; its answers and scores are cached already, so no engine starts."""
    study = SlurmStudy.of(Sandbox(tmp_path_factory.mktemp("slurm") / "study"), cluster)
    shutil.copytree(finished.folder / "cache", study.folder / "cache")
    study.snakemake()
    return study
