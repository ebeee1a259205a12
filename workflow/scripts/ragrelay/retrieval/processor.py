"""Define the base class of processors, which change a query's passages before the passages enter a prompt."""

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
"""A started processor: it takes a query's text and its passages, best first, and returns docnos with new texts.

Passages that the processor omits, or whose new text is blank, aren't shown. Orderings start from the result's order.
"""


class Processor(Kind):
    """Base class for processors, which change or reorder a ranking's first k passages before they enter a prompt.

    A processor can't add passages, and passages that it removes aren't replaced by others.
    """

    alone: ClassVar[bool] = False
    """Whether the processor gets one passage at a time, so that each passage is processed only once for all k."""
    keeps_order: ClassVar[bool] = False
    """Whether the processor always keeps the passages' order."""
    threads: ClassVar[int] = 1
    """Number of CPU threads for the job that runs the processor."""

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Collect everything besides query and passages that determines the results, such as keys, models and versions.

        Args:
            cache_dir: The cache folder, where hashes of model files are stored.

        Returns:
            JSON-compatible values by name.
        """
        raise NotImplementedError

    def start(self, threads: int) -> Process:
        """Start the processor, loading its model if there is one.

        Args:
            threads: Number of CPU threads.

        Returns:
            A function that takes a query's text and the passages, best first, and returns docnos with new texts.
        """
        raise NotImplementedError


PROCESSOR_KINDS = Kinds(Processor, "ragrelay.retrieval.processors")
