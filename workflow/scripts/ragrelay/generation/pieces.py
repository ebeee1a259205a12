"""Divide a job's answers into pieces of whole queries. The job and its helpers claim a piece when they get to it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import polars as pl

from ragrelay.generation.generator import Request
from ragrelay.generation.store import KEY, AnswerStore
from ragrelay.jobs.work_claims import Claim, wait_for

PIECES = 8
"""Pieces of a job. A smaller job than an engine takes at once is not shared: the engine claims all of it."""


class Pieces(ExitStack):
    """The pieces of ``asked`` (rows of asked_keys), whose answers ``store`` keeps.

    Claims end with the context, in which all answers to the requests that were due must be stored.
    """

    def __init__(self, store: AnswerStore, asked: pl.DataFrame) -> None:
        super().__init__()
        self._store, self._keys = store, asked.select(KEY)
        # asked_keys keeps the prompts of a query together.
        first = pl.col("row").first().over(pl.col("qid").rle_id())
        of_rows = asked.select(*KEY, "qid").with_row_index("row").with_columns(piece=first * PIECES // pl.len())
        self._claims: list[Claim] = []
        self._piece_of: dict[str, int] = {}
        for number, (_, rows) in enumerate(of_rows.group_by("piece", maintain_order=True)):
            self._claims.append(Claim(store.folder, rows.select(KEY)))
            self._piece_of |= dict.fromkeys(rows["prompt_id"], number)
        self._seen: set[Path] = set()
        self._made: set[tuple[str, int]] = set()

    @property
    def are_anothers(self) -> bool:
        """Whether another process, which may be alive, has claimed some of them."""
        return any(claim.is_anothers for claim in self._claims)

    def unclaimed(self, missing: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of ``missing``, a selection of ``asked``, in pieces that no other process has claimed."""
        anothers = {number for number, claim in enumerate(self._claims) if claim.is_anothers}
        return missing.filter([self._piece_of[prompt_id] not in anothers for prompt_id in missing["prompt_id"]])

    def wait(self, seconds: float, requests: Sequence[Request] | None = None) -> None:
        """Wait until no other process claims any of them, or those of ``requests``, but at most ``seconds``."""
        pieces = range(len(self._claims)) if requests is None else set(map(self._piece, requests))
        wait_for([self._claims[piece] for piece in pieces], seconds)

    def left(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests whose answers the store lacks. Only the first call reads all parts."""
        parts = [part for part in self._store.parts() if part not in self._seen]
        self._made.update(self._store.held(self._keys, parts).select(KEY).iter_rows())
        self._seen.update(parts)
        return [request for request in requests if (request.prompt_id, request.seed) not in self._made]

    def longest_first(self, requests: Sequence[Request]) -> list[Request]:
        """Return ``requests`` with the longest prompt first, and its piece before the others."""
        longest = max(requests, key=lambda request: request.size)
        first = self._piece(longest)
        return sorted(requests, key=lambda request: (self._piece(request) != first, request is not longest))

    def due(
        self, requests: Sequence[Request], at_work: Callable[[], bool] = lambda: True, takes_over: bool = False
    ) -> Iterator[Request]:
        """Yield what is left of ``requests``, in which each piece is together, while ``at_work``; claim each piece.

        Leaves out pieces that another process has claimed, and the rest of a piece that is taken over, unless it
        ``takes_over``.
        """
        for piece, of_piece in groupby(requests, self._piece):
            claim = self._claims[piece]
            if claim.is_anothers and not takes_over:
                continue
            self.enter_context(claim.held())
            for request in self.left(list(of_piece)):
                if not at_work():
                    return
                if not (takes_over or claim.is_held):
                    break
                yield request

    def _piece(self, request: Request) -> int:
        return self._piece_of[request.prompt_id]
