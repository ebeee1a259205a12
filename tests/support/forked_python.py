"""Snakemake and the scripts of its rules in processes forked from one that has imported the libraries.

Importing takes most of a small job's time: vLLM and what it needs 11 s of CPU time. A dry run of the small study takes
1.6 s in place of 7.2 s (the least of six each, two busy cores). The package `ragrelay` is not imported beforehand, as
it is that of the study's folder.
"""

import ast
import atexit
import builtins
import functools
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

LIBRARIES = {
    "snakemake": ("ir_measures", "jsonschema", "polars", "snakemake.cli", "snakemake.storage", "snakemake.workflow"),
    "script": (
        "matplotlib.pyplot", "pandas", "scipy.stats", "sentence_transformers", "sklearn.ensemble",
        "sklearn.linear_model", "vllm.v1.engine.llm_engine", "vllm.v1.worker.cpu_worker",
    ),
}  # fmt: skip
"""By program; those of scripts are imported when the first one is asked for."""
READ_AT_IMPORT = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"} | dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
KEPT: list[socket.socket] = []
KILLED = "KILLED_JOBS"
"""Environment variable that has jobs end themselves: the arguments of _end_where as JSON (support/kills.py sets it)."""
RULE = "RULE_OF_JOB"
"""Environment variable of every script: the rule whose job it is."""
CALLED = "CALLED_BY_JOBS"
"""Environment variable that has every job note which functions it calls: a folder (see _note_calls)."""
CLIENT = [sys.executable, "-I", "-S", __file__]
"""With the standard library alone, so that it starts at once."""


def run_snakemake(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run ``snakemake`` with ``arguments`` in ``folder``; the scripts that it starts are forked, too."""
    return _run_forked("snakemake", arguments, folder, environment)


def run_script(
    script: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run ``python script`` with ``arguments``; a file of Python alone, without a module's name."""
    return _run_forked("script", [str(script), *arguments], script.parent, environment)


def _run_forked(
    program: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryFile("w+") as errors,
    ):
        returncode = _ask(_server(), program, arguments, folder, environment, (nothing, output, errors))
        for file in (output, errors):
            file.seek(0)
        return subprocess.CompletedProcess([program, *arguments], returncode, output.read(), errors.read())


@functools.cache
def _server() -> str:
    """The address of the server that the processes of this run of the tests share: the first one starts it.

    It ends when the last of them has, as each keeps a connection to it.
    """
    from filelock import FileLock  # here, as the client has the standard library alone

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir(), f"forked-python-{run}")
    folder.mkdir(exist_ok=True)
    address = str(folder / "socket")
    kept = socket.socket(socket.AF_UNIX)
    with FileLock(folder / "lock"):
        if not Path(address).exists():
            with socket.socket(socket.AF_UNIX) as listening, (folder / "log").open("w") as log:
                listening.bind(address)
                listening.listen()
                given = listening.fileno()
                subprocess.Popen(
                    [sys.executable, __file__, "serve", str(given)], pass_fds=[given],
                    env={**os.environ, **READ_AT_IMPORT}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )  # fmt: skip
        kept.connect(address)
    kept.send(b"k")
    KEPT.append(kept)
    return address


def _ask(
    address: str, program: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str],
    files: Sequence[Any],
) -> int:  # fmt: skip
    """Have the server run a program with ``files`` as input, output and errors; its exit status."""
    asked = {"program": program, "arguments": [*arguments], "folder": str(folder), "environment": dict(environment)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"r"], [file.fileno() for file in files])
        connection.sendall(json.dumps(asked).encode())
        connection.shutdown(socket.SHUT_WR)
        told = connection.makefile().read()
    assert told, f"the server has ended: see {Path(address).parent}/log"
    return int(told)


def _serve(listening: socket.socket) -> dict[str, Any]:
    """Fork a process whenever one is asked for; returns in that process alone, with what it is asked for."""
    address = listening.getsockname()
    _import("snakemake")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leaves no zombies
    kept = [listening.accept()[0]]
    while kept:
        ready = select.select([listening, *kept], [], [])[0]
        kept = [one for one in kept if one not in ready or one.recv(1)]
        if listening not in ready:
            continue
        connection, _ = listening.accept()
        _, files, *_ = socket.recv_fds(connection, 1, 3)
        if not files:
            kept.append(connection)
            continue
        with connection:
            asked: dict[str, Any] = json.loads(connection.makefile().read())
            _import(asked["program"])
            if not os.fork():
                _fork_and_wait(connection)
                for number, file in enumerate(files):
                    os.dup2(file, number)
                    os.close(file)
                for one in (listening, *kept):
                    one.close()
                return {**asked, "address": address}
        for file in files:
            os.close(file)
    shutil.rmtree(Path(address).parent)
    sys.exit()


def _import(program: str) -> None:
    for name in LIBRARIES[program]:
        importlib.import_module(name)
    if program == "snakemake":
        sys.modules["snakemake.cli"].get_argument_parser()  # imports the plugins
    gc.freeze()  # else every fork's collector walks through all of it
    gc.unfreeze = lambda: None  # an engine that ends asks for it


def _fork_and_wait(connection: socket.socket) -> None:
    """Returns in a fork of this process; the process itself tells its exit status when it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if process := os.fork():
        _, status = os.waitpid(process, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)


def _end_after(run: Callable[[Mapping[str, Any]], None], asked: Mapping[str, Any]) -> None:
    """End this process as Python does, but without tearing down every module, which takes seconds."""
    status: object = 1
    try:
        run(asked)
        status = 0
    except SystemExit as end:
        status = end.code
    except Exception:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        if isinstance(status, str):
            print(status, file=sys.stderr)
        for end in reversed(threading._threading_atexits):  # type: ignore[attr-defined]
            end()  # executors have their threads end, which would else be waited for without end
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else int(status is not None))


def _end_where(kills: Mapping[str, tuple[int, str, float]], hits: str) -> None:
    """Send this process a signal where it is a job of a rule in ``kills``: at its start, or after renames or seconds.

    ``kills``: rule → signal, which of these, how many. First append the rule, and the renames and seconds so far, to
    the file ``hits``. Without any ``kills``, jobs of all rules append this at their ends.
    """
    own, began, count = os.environ[RULE], time.monotonic(), 0
    number, unit, amount = kills.get(own, (0, "", 0.0))

    def note() -> None:
        with Path(hits).open("a") as file:
            file.write(f"{own} {count} {time.monotonic() - began}\n")

    def hit() -> None:
        note()
        os.kill(os.getpid(), number)

    def counting(rename: Callable[..., None]) -> Callable[..., None]:
        def renamed(*arguments: Any, **options: Any) -> None:
            nonlocal count
            rename(*arguments, **options)
            count += 1
            if unit == "renames" and count == amount:
                hit()

        return renamed

    if not kills:
        atexit.register(note)
    elif unit == "start":
        hit()
    elif unit == "seconds":
        timer = threading.Timer(amount, hit)
        timer.daemon = True
        timer.start()
    os.rename, os.replace = counting(os.rename), counting(os.replace)


class _Noting(ast.NodeTransformer):
    """Have every function and module of a file note that it runs. A tracer would make all of Python half as fast."""

    def __init__(self, file: str) -> None:
        self.file = file

    def _note(self, line: int) -> ast.expr:
        return ast.parse(f"__note_call__(({self.file!r}, {line}))", mode="eval").body

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        node.body.append(ast.Expr(self._note(0)))
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        self.generic_visit(node)
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        node.body.insert(0 if ast.get_docstring(node) is None else 1, ast.Expr(self._note(first)))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.generic_visit(node)
        both = ast.Tuple([self._note(node.lineno), node.body], ast.Load())
        node.body = ast.Subscript(both, ast.Constant(1), ast.Load())
        return node


def _note_calls(folder: str) -> Callable[[Any], None]:
    """Note from now on which functions of the package are called; returns a function that writes them for a job.

    A file of JSON: the digest of the job's code, and of each function its file and first line, 0 for a module's body.
    """
    places: set[tuple[str, int]] = set()
    plain = SourceFileLoader.get_code

    def noting(loader: SourceFileLoader, module: str) -> Any:
        if "/ragrelay/" not in loader.path:
            return plain(loader, module)
        tree = _Noting(loader.path).visit(ast.parse(loader.get_data(loader.path)))
        return compile(ast.fix_missing_locations(tree), loader.path, "exec", dont_inherit=True)

    def write(job: Any) -> None:
        noted = {"rule": job.rule, "digest": job.params.get("code"), "called": sorted(places)}
        Path(folder, f"{os.getpid()}-{time.monotonic_ns()}.json").write_text(json.dumps(noted), encoding="utf-8")

    builtins.__note_call__ = places.add  # type: ignore[attr-defined]
    SourceFileLoader.get_code = noting  # type: ignore[method-assign]
    return write


def _run(asked: Mapping[str, Any]) -> None:
    """Be the process that was ``asked`` for."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = [asked["program"], *asked["arguments"]]
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if asked["program"] == "script":
        import torch

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        sys.argv = asked["arguments"]
        sys.path[0] = str(Path(sys.argv[0]).parent)
        if killed := os.environ.get(KILLED):
            _end_where(**json.loads(killed))
        write = _note_calls(called) if (called := os.environ.get(CALLED)) else None
        ran = runpy.run_path(sys.argv[0], run_name="__main__")
        if write:
            write(ran["snakemake"])
    else:
        from snakemake.cli import main
        from snakemake.script import PythonScript

        client = " ".join([*CLIENT, "script", asked["address"]])
        PythonScript.execute_script = lambda self, fname, edit=False: self._execute_cmd(
            f"{RULE}={self.rulename} {{client}} {{fname:q}}", client=client, fname=fname
        )
        sys.path[0] = asked["folder"]
        gc.disable()  # it ends before there is much to collect
        main()


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "serve":
        _end_after(_run, _serve(socket.socket(fileno=int(where))))
    else:
        sys.exit(_ask(where, what, rest, Path.cwd(), os.environ, (sys.stdin, sys.stdout, sys.stderr)))
