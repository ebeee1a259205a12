"""Imported run files: each version checked once per dataset."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ragrelay.errors import InputError
from ragrelay.retrieval import run_checks
from ragrelay.retrieval.run_checks import check_joined


def of_retriever(path: Path, **keys: str) -> dict[str, Any]:
    return {"path": str(path), "name": "mine", "definition": {"kind": "run", "path": str(path), **keys}}


def test_a_run_is_checked_once_and_again_when_it_or_its_dataset_changes(
    write_dataset: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, run = write_dataset(), tmp_path / "mine.run"
    run.write_text("q1 Q0 d1 1 2.5 x\n")
    dataset, checked = {"source": "local", "path": str(folder), "references": {}}, []
    real = run_checks.check_run
    monkeypatch.setattr(run_checks, "check_run", lambda path, *rest: (checked.append(path), real(path, *rest)))

    def check() -> int:
        checked.clear()
        check_joined([of_retriever(run)], ["nDCG"], dataset, tmp_path / "cache")
        return len(checked)

    assert (check(), check()) == (1, 0)
    run.write_text("q1 Q0 d1 1 2.5 x\nq2 Q0 d1 1 2.5 x\n")
    assert (check(), check()) == (1, 0)
    os.utime(folder / "queries.tsv", (0, 0))
    assert (check(), check()) == (1, 0)


def test_a_run_that_fails_is_checked_again(write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    run, dataset = tmp_path / "mine.run", {"source": "local", "path": str(write_dataset()), "references": {}}
    run.write_text("stranger Q0 d1 1 2.5 x\n")
    for _ in range(2):
        with pytest.raises(InputError, match=r"mine\.run: found no result for any query"):
            check_joined([of_retriever(run)], ["nDCG"], dataset, tmp_path)
