"""Define the base class of processors, which change the texts of a query's passages before these enter a prompt."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ragrelay.base.kinds import Kind, Kinds


class Passage(NamedTuple):
    """A passage of a context."""

    docno: str
    text: str


Process = Callable[[str, Sequence[Passage]], Sequence[tuple[str, str]]]
"""A processor ready for work: takes a query's text and its passages, best first, and returns docnos with new texts.

A passage that is left out, or whose text is blank, is not shown. Orderings lay out what it returns, first to last.
"""


class Processor(Kind):
    """Changes the texts or the order of the first k passages of a ranking; it adds none, and nothing takes the place
    of a passage that it empties.
    """

    alone: ClassVar[bool] = False
    """Whether it gets one passage at a time, so that each is processed once for all k."""
    keeps_order: ClassVar[bool] = False
    """Whether it always returns passages in the order in which it gets them."""
    threads: ClassVar[int] = 1
    """CPU threads of its job."""

    def decisive(self, cache_dir: Path) -> dict[str, Any]:
        """Return all that determines its texts besides the query and the passages, such as keys, models, versions."""
        raise NotImplementedError

    def start(self, threads: int) -> Process:
        """Return the processor, ready for work; load its model, if it has one."""
        raise NotImplementedError


PROCESSOR_KINDS = Kinds(Processor, "ragrelay.retrieval.processors")
