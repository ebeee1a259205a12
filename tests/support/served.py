"""vLLM's own API server as a subprocess, and engines in processes of their own, for the tests of generators."""

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragrelay.generation.generator import Request

from tests.support.sandbox import ROOT

ENGINE = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_ATTN_SPLIT_KV": "0",
    "OMP_NUM_THREADS": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
}


@contextlib.contextmanager
def served(model: Path, name: str, log: Path, key: str, window: int = 2048) -> Iterator[str]:
    """Serve ``model`` as ``name`` behind ``key``; yields the address. ``log`` takes what the server says."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Of an option that is given twice, the last counts.
    command = [sys.executable, *_documented(), "--model", str(model), "--port", str(port), "--host", "127.0.0.1"]
    command += ["--served-model-name", name, "--max-model-len", str(window), "--distributed-executor-backend", "uni"]
    environment = {**os.environ, **ENGINE, "VLLM_API_KEY": key}
    with log.open("w") as said:
        process = subprocess.Popen(
            command, env=environment, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def kill_server(address: str) -> bool:
    """Kill the server at ``address``, as a node's failure does; returns whether there was one."""
    port = address.rpartition(":")[2].partition("/")[0]
    found = [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if f"--port\0{port}\0" in folder.joinpath("cmdline").read_text(encoding="utf-8", errors="replace")
    ]
    for process in found:
        os.killpg(process, signal.SIGKILL)
    return bool(found)


def _documented() -> list[str]:
    """The arguments of python in the command that docs/add-a-model.md starts a server with."""
    text = (ROOT / "docs/add-a-model.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^VLLM_CPU_KVCACHE_SPACE=1 python (.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return shlex.split(command.replace("\\\n", " "))


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    while process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.5)
    raise AssertionError(f"the server ended:\n{log.read_text()[-3000:]}")


def rows_of_engine(
    definition: dict[str, Any], requests: list[Request], window: int = 2048
) -> dict[tuple[str, int], dict[str, Any]]:
    """What vLLM in this process makes of ``requests``; to be called in a process of its own."""
    from ragrelay.generation.engine import VllmEngine

    engine = VllmEngine(definition, window, threads=1)
    return {(row["prompt_id"], row["seed"]): row for row in engine.answers(iter(requests))}
