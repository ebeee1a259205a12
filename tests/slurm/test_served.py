"""A model served by a job of its own (slurm/serve.sh), as docs/cluster.md starts it."""

import json
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import Cluster
from tests.support.sandbox import ROOT
from tests.support.served import ENGINE
from tests.support.waiting import wait_for

DEMO = str(ROOT / "resources/demo/model")
ON_CPU = (
    "--dtype float32 --enforce-eager --no-enable-chunked-prefill --max-num-batched-tokens 4096 --max-model-len 1024"
)


def submit(cluster: Cluster, folder: Path, model: str) -> tuple[str, str]:
    """Type the page's lines before Snakemake's, with the cluster's account and options for a CPU; job id and key."""
    [lines] = re.findall(r"^export VLLM_API_KEY=.*\n.*\n.*$", (ROOT / "docs/cluster.md").read_text(), re.MULTILINE)
    lines = lines.replace("--gpus-per-node=8", f"--gpus-per-node=2 --account={cluster.account}")
    lines = lines.replace("slurm/serve.sh", str(ROOT / "slurm/serve.sh"))
    lines = lines.replace("MODEL", model).replace("--tensor-parallel-size 8", ON_CPU)
    variables = {**ENGINE, "PATH": f"{Path(sys.executable).parent}:{cluster.environment['PATH']}"}
    exported = " ".join(f"{name}={value}" for name, value in variables.items())
    typed = f'cd {folder}\nexport {exported}\n{lines}\necho "$server $VLLM_API_KEY"'
    job, key = cluster.run("bash", "-c", typed).split()
    return job, key


def ask(address: str, key: str, path: str, **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(address + path, json.dumps(body).encode() if body else None, headers)
    with urllib.request.urlopen(request, timeout=240) as reply:
        return json.load(reply)


def test_it_serves_under_the_address_in_its_file_until_it_is_cancelled(cluster: Cluster, tmp_path: Path) -> None:
    job, key = submit(cluster, tmp_path, DEMO)
    file, log = tmp_path / f"served-{job}.txt", tmp_path / f"served-{job}.log"
    assert file.exists(), log.read_text()[-3000:]
    address = file.read_text().strip()
    assert [model["id"] for model in ask(address, key, "/models")["data"]] == ["big"]
    told = ask(address, key, "/completions", model="big", prompt="Question: what is tea?", max_tokens=4)
    assert told["choices"][0]["text"]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(address, "another", "/models")
    cluster.run("scancel", job)
    wait_for("its end", lambda: cluster.told(job)["JobState"] in ("CANCELLED", "COMPLETED"), 200)
    wait_for("its file to go", lambda: not file.exists(), 60)


def test_a_server_that_does_not_start_ends_its_job_and_the_wait(cluster: Cluster, tmp_path: Path) -> None:
    job, _ = submit(cluster, tmp_path, str(tmp_path / "none"))
    wait_for("its end", lambda: cluster.told(job)["JobState"] == "FAILED", 200)
    assert not (tmp_path / f"served-{job}.txt").exists()
