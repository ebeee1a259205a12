"""Imported run files: each version checked once per dataset."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.retrieval import run_checks
from ragrelay.retrieval.run_checks import check_joined


def of_retriever(path: Path, **keys: str) -> dict[str, Any]:
    return {
        "path": str(path), "name": "mine", "definition": {"kind": "run", "path": str(path), **keys}, "passages": []
    }  # fmt: skip


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


def test_a_run_is_checked_again_when_its_key_changes(write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    run, dataset = tmp_path / "mine.run", {"source": "local", "path": str(write_dataset()), "references": {}}
    run.write_text("q1 Q0 d1 1 1 x\nq1 Q0 d2 2 2 x\n")
    check_joined([of_retriever(run, ranked_by="distances")], ["nDCG"], dataset, tmp_path)
    with pytest.raises(
        InputError, match=r"rise with the rank in most queries \(1 of 1\); expected config key 'retrievers\.mine"
    ):
        check_joined([of_retriever(run)], ["nDCG"], dataset, tmp_path)


def test_measures_that_join_are_checked_against_the_labels_once(
    write_dataset: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_dataset(qrels=[("q1", "d1", 3), ("q2", "d2", 4), ("stranger", "d1", 9)])
    dataset, read = {"source": "local", "path": str(folder), "references": {}}, []
    opened = run_checks.open_collection
    monkeypatch.setattr(run_checks, "open_collection", lambda definition: (read.append(1), opened(definition))[1])
    check_joined([], ["nDCG", "RR"], dataset, tmp_path)
    assert not read, "these measures take all labels"
    for _ in range(2):
        check_joined([], ["nDCG", "ERR"], dataset, tmp_path)
    assert len(read) == 1
    (folder / "qrels.txt").write_text("q1 0 d1 3\nq2 0 d2 12\n")
    for _ in range(2):
        with pytest.raises(
            InputError, match=f"qrels of {folder}: found label 12; expected labels up to 4, .* ERR accepts"
        ):
            check_joined([], ["nDCG", "ERR"], dataset, tmp_path)


def test_a_run_that_fails_is_checked_again(write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    run, dataset = tmp_path / "mine.run", {"source": "local", "path": str(write_dataset()), "references": {}}
    run.write_text("stranger Q0 d1 1 2.5 x\n")
    for _ in range(2):
        with pytest.raises(InputError, match=r"mine\.run: found no results for any query"):
            check_joined([of_retriever(run)], ["nDCG"], dataset, tmp_path)
