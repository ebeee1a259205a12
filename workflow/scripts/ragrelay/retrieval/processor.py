"""Define the base class for processors, which change the texts of a query's passages before they enter a prompt."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from ragrelay.base.kinds import Kind, Kinds


class Passage(NamedTuple):
    """A passage in a context."""

    docno: str
    """The passage's id."""
    text: str
    """The passage's text."""


Process = Callable[[str, Sequence[Passage]], Sequence[tuple[str, str]]]
"""A processor ready for work: takes a query's text and its passages, best first, and returns docnos with new texts.

A passage that is left out, or whose text is blank, is not shown. Orderings lay out its result, first to last.
"""


class Processor(Kind):
    """Base class for processors, which change or reorder a ranking's first k passages before they enter a prompt.

    A processor adds no passages, and nothing replaces a passage that it empties.
    """

    alone: ClassVar[bool] = False
    """Whether it gets one passage at a time, so that each is processed once for all k."""
    keeps_order: ClassVar[bool] = False
    """Whether it always keeps the passages' order."""
    threads: ClassVar[int] = 1
    """CPU threads for its job."""

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Collect everything besides query and passages that determines its texts, such as keys, models and versions.

        Args:
            cache_dir: The cache, where model files' hashes are stored.

        Returns:
            Plain values, keyed by name.
        """
        raise NotImplementedError

    def start(self, threads: int) -> Process:
        """Start the processor; load its model if it has one.

        Args:
            threads: CPU threads.

        Returns:
            A function that takes a query's text and its passages, best first, and returns docnos with new texts.
        """
        raise NotImplementedError


PROCESSOR_KINDS = Kinds(Processor, "ragrelay.retrieval.processors")
