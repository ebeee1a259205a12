"""A cluster leaves nothing behind, also where the tests that started it are killed."""

import subprocess
import sys
from pathlib import Path

from tests.support.cluster import Cluster
from tests.support.janitor import left
from tests.support.sandbox import ROOT
from tests.support.waiting import wait_for

START = """
from tests.support.cluster import Cluster
cluster = Cluster("lab")
cluster.start()
cluster.run("sbatch", "--account=lab", "--output=/dev/null", "--wrap=sleep 600")
print(cluster.folder, flush=True)
input()
"""


def test_killed_tests_leave_no_process_and_no_folder(cluster: Cluster) -> None:
    tests = subprocess.Popen(
        [sys.executable, "-c", START], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert tests.stdout
    folder = Path(tests.stdout.readline().strip())
    names = {"munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "slurmstepd", "sleep"}
    wait_for("the job to run", lambda: names <= {process.name() for process in left(folder)}, 60)
    tests.kill()
    tests.communicate()
    wait_for("the folder to be gone", lambda: not folder.exists(), 60)
    assert not left(folder)
    assert cluster.node_states(), "the other cluster is as it was"
