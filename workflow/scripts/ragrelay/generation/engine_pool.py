"""Run several vLLM engines side by side in one job, each in a separate process on separate GPUs.

Use a pool if your cluster only allocates entire nodes and the model needs fewer GPUs than a node has.
"""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.generator import Method, Request
from ragrelay.generation.token_progress import PROGRESS

CHUNK = 32
"""Number of requests sent to an engine at a time. Consecutive requests go together, because they share prefixes."""
DEVICES = "CUDA_VISIBLE_DEVICES"
ENDED = "the process of an engine ended"
PACKAGES = str(Path(__file__).parents[2])

Rows = Iterator[dict[str, Any]]


class EnginePool:
    """Several engines (``engines_per_job``) that can be used like a single VllmEngine.

    Raises InputError if CUDA_VISIBLE_DEVICES lists too few GPUs. If one engine dies, the job ends.
    """

    name = VllmEngine.name

    def __init__(self, generator: GeneratorEntry, window: int, threads: int) -> None:
        count = generator["engines_per_job"]
        self.generator = generator
        visible = visible_devices(count, generator["tensor_parallel_size"], os.environ.get(DEVICES))
        workers = [_start({DEVICES: devices}) for devices in visible]
        for worker in workers:
            _send(worker, (generator, window, max(1, threads // count)))
        replies = [_reply(worker) for worker in workers]
        self._workers = workers
        self.version, self.device, settings = replies[0]
        self.settings: dict[str, str] = {**settings, "engines": str(count)}

    def answers(self, requests: Iterator[Request]) -> Rows:
        """Yield a row for the answer store as each request finishes."""
        return self.run(VllmEngine.answers, requests)

    def asked_with(self, generator: GeneratorEntry) -> "EnginePool":
        """Return a pool that shares this pool's loaded models but uses the decoding parameters in ``generator``."""
        other = object.__new__(EnginePool)
        other.__dict__.update(self.__dict__, generator=generator)
        return other

    def run(self, method: Method, requests: Iterator[Any]) -> Rows:
        """Distribute ``requests`` among the engines, call ``method`` with each engine, and yield the resulting rows.

        Each chunk of requests goes to the engine with the fewest unfinished requests. Each engine's process holds at
        most three batches of requests, two of them inside the engine.
        """
        for worker in self._workers:
            _send(worker, (method, self.generator))
        left, most = dict.fromkeys(self._workers, 0), 3 * self.generator["max_num_seqs"]
        begun: dict[Connection[Any, Any], tuple[float, float]] = {}
        at_work, more = list(self._workers), True
        while at_work:
            while more and min(left.values()) < most:
                worker = min(left, key=lambda each: left[each])
                chunk = list(islice(requests, CHUNK))
                more = bool(chunk)
                left[worker] += len(chunk)
                for receiver in [worker] if chunk else self._workers:
                    _send(receiver, chunk)
            ready = wait(at_work)
            for worker in [each for each in at_work if each in ready]:
                row = _reply(worker)
                if row is None:
                    at_work.remove(worker)
                    begun.pop(worker, None)
                elif isinstance(row, tuple):
                    begun[worker] = row
                    if progress := PROGRESS.get():
                        progress.begun(*map(sum, zip(*begun.values(), strict=True)))
                else:
                    # A likelihood row says how many requests it completes, because a request can have several rows.
                    left[worker] -= row.get("requests", 1)
                    yield row


def visible_devices(count: int, size: int, given: str | None) -> list[str]:
    """Divide the GPUs in CUDA_VISIBLE_DEVICES (``given``) among ``count`` engines with ``size`` GPUs each.

    Returns the value of CUDA_VISIBLE_DEVICES for each engine. Raises InputError if ``given`` lists too few GPUs.
    """
    named = [str(number) for number in range(count * size)] if not given else given.split(",")
    if len(named) < count * size:
        expected = f"{count * size} GPUs, as {count} engines_per_job with tensor_parallel_size {size} need"
        raise InputError(f"variable {DEVICES}", repr(given), expected)
    return [",".join(named[size * place : size * (place + 1)]) for place in range(count)]


def _start(variables: Mapping[str, str]) -> "Connection[Any, Any]":
    """Start a process that serves an engine and ends when its connection closes."""
    ours, theirs = socket.socketpair()
    path = os.pathsep.join(filter(None, (PACKAGES, os.environ.get("PYTHONPATH"))))
    subprocess.Popen(
        [sys.executable, "-c", f"from {serve.__module__} import {serve.__name__} as serve; serve({theirs.fileno()})"],
        pass_fds=[theirs.fileno()], env={**os.environ, **variables, "PYTHONPATH": path}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()
    return Connection(ours.detach())


def _reply(worker: "Connection[Any, Any]") -> Any:
    """Receive a message from an engine's process; if it is an error, raise it."""
    try:
        reply = worker.recv()
    except (EOFError, ConnectionError) as error:
        raise RuntimeError(ENDED) from error
    if isinstance(reply, Exception):
        raise reply
    return reply


def _send(worker: "Connection[Any, Any]", message: object) -> None:
    try:
        worker.send(message)
    except ConnectionError as error:
        raise RuntimeError(ENDED) from error


def serve(number: int) -> None:
    """Start an engine in this process, and run the methods received through a socket (file descriptor ``number``).

    The job first sends the generator's definition, the window and the number of threads. This process replies with the
    engine's version, device and settings. To run a method, the job sends the method, a generator's definition and lists
    of requests, ending with an empty list. This process replies with rows followed by None, or with an error. Between
    rows, it sends tuples with the numbers of prompt and answer tokens computed so far for unfinished answers.
    """
    # Only the job handles these signals; it ends this process by closing the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection: Connection[Any, Any] = Connection(number)
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def receive() -> None:
        try:
            while True:
                received.put(connection.recv())
        except (EOFError, ConnectionError):
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    try:
        engine = VllmEngine(*received.get())
        connection.send((engine.version, engine.device, dict(engine.settings)))
        PROGRESS.set(SimpleNamespace(begun=lambda *tokens: connection.send(tokens)))
        while True:
            method, generator = received.get()
            for row in method(engine.asked_with(generator), _requests(received)):
                connection.send(row)
            connection.send(None)
    except (InputError, MemoryError) as error:
        connection.send(error)
        raise
    except Exception as error:  # an error from a library may not be picklable
        connection.send(RuntimeError(f"{type(error).__name__}: {error}"))
        raise


def _requests(received: "queue.SimpleQueue[Any]") -> Iterator[object]:
    while chunk := received.get():
        yield from chunk
