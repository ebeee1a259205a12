"""The small study with every optional part, on the answers that it has."""

from pathlib import Path

from tests.support.annex_cases import add_of_annexes, targets
from tests.support.sandbox import Sandbox
from tests.support.traced_jobs import Traced

TARGETS = (*targets("optional"), "report")


def optional_study(finished: Sandbox, folder: Path) -> Sandbox:
    """Run it in ``folder``: context use, gold answers, and what annexes add. Its jobs note what they call."""
    study = Traced.at(finished.copied_to(folder).folder)
    add_optional_parts(study)
    with study.noting():
        study.snakemake("plan")
        study.snakemake(*TARGETS)
    return study


def add_optional_parts(study: Sandbox) -> None:
    """Add keys and files of every optional part."""
    chosen = {"retrievers": ["bm25", "rel"], "scorers": ["minilm", "token_f1"]}
    study.config |= {"context_use": True, "grid": {**study.config["grid"], **chosen}}
    add_of_annexes(study, "optional")
    study.write_config()
