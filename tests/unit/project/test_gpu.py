"""The GPU benchmark at toy size on CPU: every piece of it runs, and it goes on where it stopped."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu
from benchmarks.shared import gpu_pieces
from benchmarks.shared.pieces import Pieces
from benchmarks.shared.record import figure

TOY = {
    "size": "toy", "encoder": "toy", "layer": 1, "queries": 2, "prompts": 2, "requests": 2, "k": 1, "seeds": 1,
    "retrievers": 1, "answers": 15, "rounds": 1, "target": "all_prompts",
}  # fmt: skip


class Here:
    """A worker in this process, which has vLLM loaded already."""

    def __init__(self, start: Callable[..., Any], *arguments: Any) -> None:
        self.kept = start(*arguments)

    def run(self, task: Callable[..., Any], *arguments: Any) -> Any:
        return task(self.kept, *arguments)

    def stop(self) -> None:
        pass


@pytest.mark.full
def test_every_piece_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_pieces, "Worker", Here)
    options = [word for name, value in TOY.items() for word in (f"--{name}", str(value))]
    out = tmp_path / "gpu.json"
    command = ["gpu.py", "--out", str(out), "--work", str(tmp_path / "work"), *options, "--tokens", "20", "4"]
    monkeypatch.setattr(sys, "argv", command)
    gpu.main()
    figures = json.loads(out.read_text())["figures"]
    pieces = json.loads((tmp_path / "work/pieces.json").read_text())["figures"]
    assert set(pieces) == {"generation", "20 tokens in, 4 out", "bertscore", "batch invariance", "grid"}
    assert set(figures) == {label for piece in pieces.values() for label in piece}
    assert figures["k = 5, 5 seeds: share of prompt tokens from the prefix cache"]["value"] > 0.5
    assert figures["without batch invariance: share of answers that are the same in another order"]["value"] == 1
    assert (
        figures["BERTScore: largest difference in an answer's best F1 from bert-score with padded batches"]["value"] < 1
    )
    assert list((tmp_path / "work/grid/results/grid/drawn/prompts").rglob("k1.parquet"))


def test_a_piece_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    options = [word for name, value in TOY.items() for word in (f"--{name}", str(value))]
    command = ["gpu.py", "--out", str(tmp_path / "gpu.json"), "--work", str(tmp_path / "work"), *options]
    monkeypatch.setattr(sys, "argv", [*command, "--pieces", "bertscore"])
    gpu.main()
    figures = json.loads((tmp_path / "gpu.json").read_text())["figures"]
    assert figures and all(label.startswith("BERTScore: ") for label in figures)
    monkeypatch.setattr(sys, "argv", [*command, "--pieces", "encoder"])
    with pytest.raises(SystemExit):
        gpu.main()
    assert "--pieces: found 'encoder'; expected some of generation, " in capsys.readouterr().err


def test_pieces_go_on_where_they_stopped(tmp_path: Path) -> None:
    calls: list[str] = []

    def piece(name: str, whole_at: int) -> Callable[[float], dict[str, Any] | None]:
        def run(seconds: float) -> dict[str, Any] | None:
            calls.append(name)
            return {f"figure of {name}": figure(1.0)} if calls.count(name) >= whole_at else None

        return run

    pieces = {"one": piece("one", 1), "two": piece("two", 2), "three": piece("three", 1)}
    assert not Pieces(tmp_path, {"size": 1}).run(pieces, 60) and calls == ["one", "two"]
    again = Pieces(tmp_path, {"size": 1})
    assert again.run(pieces, 60) and calls == ["one", "two", "two", "three"]
    assert set(again.figures()) == {"figure of one", "figure of two", "figure of three"}
    assert not Pieces(tmp_path, {"size": 2}).figures(), "those of another size are forgotten"
    assert not Pieces(tmp_path, {"size": 2}).run(pieces, 0), "no time is left"
