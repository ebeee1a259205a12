"""Dry runs in processes forked from one that has imported Snakemake: about a third of the time of starting anew."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path


def dry_run(folder: Path, arguments: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run ``snakemake --dry-run`` with ``arguments`` in ``folder``; all it says is in stdout."""
    server = _server()
    assert server.stdin and server.stdout
    asked = {"folder": str(folder), "arguments": ["--dry-run", *arguments], "environment": dict(environment)}
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    return subprocess.CompletedProcess(asked["arguments"], answer["returncode"], answer["output"], "")


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)  # ends its input, and so the server
    return server


def _serve() -> None:
    # Of the libraries alone: the package is that of the folder in which the dry run is made.
    import ir_measures  # noqa: F401
    import jsonschema  # noqa: F401
    import polars  # noqa: F401
    import snakemake.cli
    import snakemake.workflow

    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile("w+") as output:
            process = os.fork()
            if not process:
                status = 1
                try:
                    os.dup2(output.fileno(), 1)
                    os.dup2(output.fileno(), 2)
                    os.chdir(asked["folder"])
                    os.environ.clear()
                    os.environ.update(asked["environment"])
                    sys.argv = ["snakemake", *asked["arguments"]]
                    snakemake.cli.main()
                except SystemExit as end:
                    status = end.code if isinstance(end.code, int) else 1 if end.code else 0
                    if isinstance(end.code, str):
                        print(end.code, file=sys.stderr)
                finally:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(status)
            _, status = os.waitpid(process, 0)
            output.seek(0)
            print(json.dumps({"returncode": os.waitstatus_to_exitcode(status), "output": output.read()}), flush=True)


if __name__ == "__main__":
    _serve()
