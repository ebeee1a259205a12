"""A long benchmark in pieces: what is done is kept, and a call does as many more as its time allows."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.shared.record import Figure

Piece = Callable[[float], Mapping[str, Figure] | None]
"""Called with the seconds that are left; its figures, or None where it has to be called again."""


class Pieces:
    """What is kept in ``folder``: the figures of each piece that is done, and the seconds spent on each.

    Pieces of another ``setting`` are forgotten.
    """

    def __init__(self, folder: Path, setting: Mapping[str, Any]) -> None:
        self.path = folder / "pieces.json"
        kept = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
        same = kept.get("setting") == dict(setting)
        self.kept: dict[str, Any] = kept if same else {"setting": dict(setting), "figures": {}, "seconds": {}}

    def run(self, pieces: Mapping[str, Piece], seconds: float) -> bool:
        """Do the ``pieces`` that lack, for about so many ``seconds``; whether all are done."""
        ends = time.monotonic() + seconds
        for name, piece in pieces.items():
            if name in self.kept["figures"]:
                continue
            began = time.monotonic()
            if began >= ends:
                return False
            figures = piece(ends - began)
            spent = self.kept["seconds"].get(name, 0) + time.monotonic() - began
            self.kept["seconds"][name] = spent
            if figures is not None:
                self.kept["figures"][name] = dict(figures)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.kept), encoding="utf-8")
            print(f"{name}: {'done' if figures is not None else 'to be continued'} after {spent:.0f} s", flush=True)
            if figures is None:
                return False
        return True

    def figures(self) -> dict[str, Figure]:
        """Those of all pieces."""
        return {label: figure for of_piece in self.kept["figures"].values() for label, figure in of_piece.items()}

    def seconds(self, name: str) -> float:
        """Spent on a piece before this call."""
        return float(self.kept["seconds"].get(name, 0))
