"""A study whose jobs note the functions that they call, and the digests of their code."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.forked_python import CALLED
from tests.support.sandbox import Sandbox

NOTE_DIGESTS = """

_of_code = code_digest
ENGINE = ["ragrelay.generation.engines.vllm"]


def code_digest(script, *modules, folder=SCRIPTS, without=()):
    digest = _of_code(script, *modules, folder=folder, without=without)
    engine = ENGINE if without or script == "questions/read_replies.py" else []
    noted = {"digest": digest, "script": script, "modules": [*modules, *engine]}
    with (SCRIPTS / "digests.jsonl").open("a") as file:
        file.write(json.dumps(noted) + "\\n")
    return digest
"""
"""The digest of questions leaves out the engine, whose kind no job names then; what it uses is checked all the same.
Jobs that read replies load the engine's kind, only to see whether it runs in a job.
"""


class Traced(Sandbox):
    """A study whose jobs note what they call."""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), CALLED: str(self.folder / "called")}

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Runs within it are noted; the package is as before afterwards."""
        (self.folder / "called").mkdir()
        path = self.folder / "workflow/scripts/ragrelay/execution/jobs/code_digest.py"
        text, of_file = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text + NOTE_DIGESTS, encoding="utf-8")
        yield
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(of_file.st_atime_ns, of_file.st_mtime_ns))


def noted_jobs(folder: Path) -> list[dict[str, Any]]:
    """Return each job that has a digest: rule, script, the rule's modules, places of the functions that it called.

    ``folder``: of a study that ran as a Traced one.
    """
    scripts = folder / "workflow/scripts"
    noted = [json.loads(line) for line in (scripts / "digests.jsonl").read_text(encoding="utf-8").splitlines()]
    of_digest = {one["digest"]: one for one in noted}
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / "called").iterdir()]
    package = str(scripts / "ragrelay") + "/"
    return [
        {**of_digest[job["digest"]], "rule": job["rule"],
         "called": [(file.removeprefix(str(scripts) + "/"), line) for file, line in job["called"]
                    if file.startswith(package)]}
        for job in found if job["digest"]
    ]  # fmt: skip
