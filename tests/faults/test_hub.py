"""A generator on a hub (see support/fake_hub.py): fetched before any job, unreachable, and gone missing."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.fake_hub import COMMIT, FakeHub
from tests.support.sandbox import ROOT, Sandbox
from tests.support.tiny_gguf import write_gguf

MODEL = "lab/demo-lm"
ONE_RETRIEVER = "results/small/small/answers/demo-lm/rel/descending/k1/seed1.parquet"
NOWHERE = "http://127.0.0.1:9"


class HubStudy(Sandbox):
    """The small study with its generator on a hub at ``url``, and an empty cache of hub files."""

    forked = False  # each process reads the hub's address when it starts
    url = NOWHERE

    def environment(self) -> dict[str, str]:
        online = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
        return {**online, "PYTHONPATH": "", "HF_HOME": str(self.folder / "hub"), "HF_ENDPOINT": self.url}


@pytest.fixture
def study(copied: Callable[[], Sandbox]) -> HubStudy:
    twin = HubStudy.at(copied().folder)
    twin.config["generators"] = {"demo-lm": {"model": MODEL, "threads": 2}}
    twin.write_config()
    return twin


def errors(study: HubStudy, *arguments: str) -> list[str]:
    done = study.snakemake(*arguments, check=False)
    assert done.returncode != 0
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("ragrelay: error:")]


@pytest.mark.full
def test_unreachable_then_fetched_then_offline(study: HubStudy, finished: Sandbox) -> None:
    before = sorted(study.folder.glob("cache/answers/*"))
    [line] = errors(study)
    assert f"config key 'generators.demo-lm.model': found '{MODEL}' unavailable" in line
    assert "expected a reachable hub (HF_ENDPOINT)" in line
    assert sorted(study.folder.glob("cache/answers/*")) == before, "nothing was started"

    with FakeHub({MODEL: ROOT / "resources/demo/model"}) as hub:
        study.url = hub.url
        study.snakemake("prefetch")
        assert f"/{MODEL}/resolve/{COMMIT}/model.safetensors" in hub.asked
    # The hub is gone; the jobs don't miss it.
    study.snakemake(ONE_RETRIEVER)
    assert study.tables() == finished.tables()


@pytest.mark.full
def test_a_job_says_what_is_missing(study: HubStudy) -> None:
    with FakeHub({MODEL: ROOT / "resources/demo/model"}) as hub:
        study.url = hub.url
        study.snakemake("prefetch")
        shutil.rmtree(study.folder / "hub")
        asked = len(hub.asked)
        [line, *_] = errors(study, ONE_RETRIEVER)
        assert len(hub.asked) == asked, "a job asked the hub"
    assert f"generator model '{MODEL}': found no files of '{MODEL}' in the hub's cache" in line
    assert "expected `snakemake prefetch` first, on a machine that can reach the hub" in line


KILLS: dict[str, tuple[signal.Signals, str, int]] = {
    "as weights come": (signal.SIGKILL, "/model.safetensors", 1),
    "at the configuration, twice": (signal.SIGKILL, "/config.json", 2),
    "at its first question": (signal.SIGKILL, f"/api/models/{MODEL}/revision/v2", 1),
}
"""How the job that fetches ends: signal, end of what it asks the hub for, how often."""


@pytest.mark.full
@pytest.mark.parametrize("case", KILLS)
def test_the_same_command_after_fetching_was_killed(study: HubStudy, tmp_path: Path, case: str) -> None:
    """After a change of model or revision, the receipts and the hub's files are those of an undisturbed run."""
    number, end, times = KILLS[case]
    if "v2" in end:
        study.config["generators"]["demo-lm"]["revision"] = "v2"
        study.write_config()
    undisturbed, killed = HubStudy.at(study.copied_to(tmp_path / "undisturbed").folder), list[int]()

    def kill(path: str, port: int) -> None:
        if not path.endswith(end) or len(killed) == times:
            return
        askers = [one.pid for one in psutil.net_connections("tcp") if one.pid and one.laddr and one.laddr.port == port]
        for asker in map(psutil.Process, askers):
            if "fetch_input" in "".join(asker.cmdline()):
                killed.append(asker.pid)
                asker.send_signal(number)
                psutil.wait_procs([asker], timeout=60)

    with FakeHub({MODEL: ROOT / "resources/demo/model"}) as hub:
        study.url = undisturbed.url = hub.url
        undisturbed.snakemake("prefetch")
        hub.before = kill
        for time in range(times):
            assert study.snakemake("prefetch", check=False).returncode
            assert len(killed) == time + 1
        study.snakemake("prefetch")
        assert study.contents() == undisturbed.contents()
        assert study.planned("prefetch") == {}
    fetched = [
        {str(path.relative_to(one.folder)): path.read_bytes() for path in one.folder.glob("hub/hub/*/snapshots/*/*")}
        for one in (study, undisturbed)
    ]
    assert fetched[0] == fetched[1] and len(fetched[0]) > 4


def test_incomplete_model(study: HubStudy, tmp_path: Path) -> None:
    """What the hub has must be whole: here its tokenizer is missing."""
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources/demo/model", folder)
    (folder / "tokenizer.json").unlink()
    with FakeHub({MODEL: folder}) as hub:
        study.url = hub.url
        [line] = errors(study, "prefetch")
    assert "config key 'generators.demo-lm.model': found no tokenizer in" in line


@pytest.mark.full
def test_a_gguf_file_of_a_repository(tmp_path: Path) -> None:
    """That file alone is fetched, and converted without the hub; its name and revision identify it."""
    repository, name = tmp_path / "hub-files", f"{MODEL}/q8/lm.gguf"
    for path in ("q8/lm.gguf", "q4/lm.gguf"):
        write_gguf(repository / path)
    study = HubStudy(tmp_path / "study", queries=2)
    study.config["generators"] = {"demo-lm": {"model": name, "max_model_len": 512, "max_tokens": 20}}
    study.write_config()
    [line] = errors(study, "prefetch")
    assert f"config key 'generators.demo-lm.model': found '{name}' unavailable" in line
    with FakeHub({MODEL: repository}) as hub:
        study.url = hub.url
        study.snakemake("fetch_inputs")
        assert [path for path in hub.asked if path.endswith(".gguf")] == [f"/{MODEL}/resolve/{COMMIT}/q8/lm.gguf"] * 2
    study.snakemake("prefetch")
    (receipt,) = study.results.glob("fetched/*.json")
    [entry] = json.loads(receipt.read_text())["hub"]
    assert (entry["name"], entry["commit"]) == (name, COMMIT)
    assert entry["bytes"] == (repository / "q8/lm.gguf").stat().st_size
    (converted,) = study.folder.glob("cache/models/[!.]*")
    assert (converted / "model.safetensors").is_file()
    shutil.rmtree(converted)
    shutil.rmtree(study.folder / "hub")
    (study.results / "converted/demo-lm.json").unlink()
    [line] = errors(study, "prefetch")
    assert f"generator model '{name}': found no files of '{name}' in the hub's cache" in line
