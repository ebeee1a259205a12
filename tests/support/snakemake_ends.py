"""What Snakemake says of a bad overlay or option, which it reads before the Snakefile, by its own functions."""

import contextlib
import io
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import snakemake.cli
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

OVERLAY = "my-study.yaml"


class End(NamedTuple):
    """``call`` is what Snakemake does with the option; ``mend`` what a user does."""

    what: str
    option: str
    content: bytes | None
    mend: str


FILE = f"--configfile {OVERLAY}"
ENDS = [
    End("Overlay that is not there", FILE, None, "correct the path"),
    End("Overlay in Latin-1", FILE, "study: café\n".encode("latin-1"), "save it as UTF-8"),
    End("Overlay in UTF-16", FILE, "study: mine\n".encode("utf-16"), "save it as UTF-8"),
    End("Tab in place of blanks", FILE, b"study: mine\ngrid:\n\tk: [1]\n", "write blanks"),
    End("Tag of Python", FILE, b"study: !!python/object/apply:os.getcwd []\n", "write plain values"),
    End("Two documents", FILE, b"study: mine\n---\nstudy: yours\n", "remove the line `---`"),
    End("Overlay without keys", FILE, b"- study\n", "write keys with values"),
    End("Anchor that holds itself", FILE, b"study: &a\n  b: *a\n", "write the value out"),
    End("Number of 5,000 digits", FILE, b"study: " + b"9" * 5000, "write it as a text, or shorter"),
    End("Option --config with a name of one letter", "--config k=3", None, "`--config context_depth=20`"),
    End("Option --config without a value", "--config k", None, "`--config context_depth=20`"),
    End("Folder that is no profile", "--profile nowhere", None, "name a folder with a `config.yaml`"),
]


def said(end: End, folder: Path) -> str:
    """The last line that Snakemake writes on ``end``, tried in the new ``folder``."""
    folder.mkdir()
    with chdir(folder):
        if end.content is not None:
            Path(OVERLAY).write_bytes(end.content)
        option, _, value = end.option.partition(" ")
        calls: dict[str, Callable[[], Any]] = {
            "--configfile": lambda: update_config({}, load_configfile(value)),
            "--config": lambda: snakemake.cli.parse_config([value]),
            "--profile": lambda: snakemake.cli.get_argument_parser(profiles=[value]),
        }
        shown = io.StringIO()
        try:
            with contextlib.redirect_stderr(shown):
                calls[option]()
        except SystemExit:
            return shown.getvalue().strip().splitlines()[-1].partition(" Profile has")[0]
        except (OSError, ValueError, RecursionError, WorkflowError) as error:
            return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
    raise AssertionError(f"{end.what}: Snakemake takes it")
