"""What Snakemake says of a bad overlay or option, which it reads before the Snakefile, by its own functions."""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import snakemake.cli
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

OVERLAY = "my-study.yaml"


class End(NamedTuple):
    """``content`` of the overlay, if there is one; ``mend``: what a user does."""

    what: str
    option: str
    content: bytes | None
    mend: str


FILE = f"--configfile {OVERLAY}"
FOLDER = b""
"""In place of a file's content."""
NO_END = "(no line: Snakemake works on, and its memory grows)"
CALLS = 100_000
"""Snakemake calls a function for every mapping; all others here need less than a thousand calls."""


def anchors(levels: int) -> bytes:
    """Mappings of nine anchors each: 9^levels when written out."""
    lines = ["a0: &a0 {k: 1}"]
    for level in range(levels):
        inside = ", ".join(f"k{number}: *a{level}" for number in range(9))
        lines.append(f"a{level + 1}: &a{level + 1} {{{inside}}}")
    return "\n".join(lines).encode()


ENDS = [
    End("Missing overlay", FILE, None, "correct the path"),
    End("Overlay that is a folder", FILE, FOLDER, "name the file in it"),
    End("Overlay in Latin-1", FILE, "study: café\n".encode("latin-1"), "save it as UTF-8"),
    End("Overlay in UTF-16", FILE, "study: mine\n".encode("utf-16"), "save it as UTF-8"),
    End("Tab instead of spaces", FILE, b"study: mine\ngrid:\n\tk: [1]\n", "indent with spaces"),
    End("Python tag", FILE, b"study: !!python/object/apply:os.getcwd []\n", "write plain values"),
    End("Two documents", FILE, b"study: mine\n---\nstudy: yours\n", "remove the line `---`"),
    End("Overlay without keys", FILE, b"- study\n", "write keys with values"),
    End("Anchor that contains itself", FILE, b"study: &a\n  b: *a\n", "write the value out"),
    End("Anchors of mappings within anchors", FILE, anchors(30), "stop it, and write the mappings out"),
    End("Number with 5,000 digits", FILE, b"study: " + b"9" * 5000, "write it as a text, or shorter"),
    End("Option --config with a name of one letter", "--config k=3", None, "`--config context_depth=20`"),
    End("Option --config without a value", "--config k", None, "`--config context_depth=20`"),
    End("Folder without a profile", "--profile nowhere", None, "name a folder with a `config.yaml`"),
]


class _NoEndError(Exception):
    pass


@contextlib.contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Raise _NoEndError at the first call of a Python function after so many."""
    left = calls

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal left
        left -= event == "call"
        if left < 0:
            raise _NoEndError

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def said(end: End, folder: Path) -> str:
    """The last line that Snakemake writes on ``end``, tried in the new ``folder``; NO_END after CALLS calls."""
    folder.mkdir()
    with chdir(folder):
        if end.content == FOLDER:
            Path(OVERLAY).mkdir()
        elif end.content is not None:
            Path(OVERLAY).write_bytes(end.content)
        option, _, value = end.option.partition(" ")
        calls: dict[str, Callable[[], Any]] = {
            "--configfile": lambda: update_config({}, load_configfile(value)),
            "--config": lambda: snakemake.cli.parse_config([value]),
            "--profile": lambda: snakemake.cli.get_argument_parser(profiles=[value]),
        }
        shown = io.StringIO()
        try:
            with contextlib.redirect_stderr(shown), at_most(CALLS):
                calls[option]()
        except _NoEndError:
            return NO_END
        except SystemExit:
            return shown.getvalue().strip().splitlines()[-1].partition(" Profile has")[0]
        except (OSError, ValueError, RecursionError, WorkflowError) as error:
            return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
    raise AssertionError(f"{end.what}: Snakemake takes it")
