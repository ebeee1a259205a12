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
"""A started processor: it takes a query's text and its passages, best first, and returns docnos with new texts.

Passages that it leaves out, or whose text is blank, aren't shown. Orderings apply to the order of its result.
"""


class Processor(Kind):
    """Base class for processors, which change or reorder a ranking's first k passages before they enter a prompt.

    A processor can't add passages, and the passages that it empties aren't replaced.
    """

    alone: ClassVar[bool] = False
    """Whether it gets one passage at a time, so that each passage is only processed once for all k."""
    keeps_order: ClassVar[bool] = False
    """Whether it always keeps the passages' order."""
    threads: ClassVar[int] = 1
    """Number of CPU threads for its job."""

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Collect all that determines its texts besides the query and passages, such as keys, models and versions.

        Args:
            cache_dir: The cache, where model files' hashes are stored.

        Returns:
            Plain values by name.
        """
        raise NotImplementedError

    def start(self, threads: int) -> Process:
        """Start the processor, which loads its model if it has one.

        Args:
            threads: Number of CPU threads.

        Returns:
            A function that takes a query's text and its passages, best first, and returns docnos with new texts.
        """
        raise NotImplementedError


PROCESSOR_KINDS = Kinds(Processor, "ragrelay.retrieval.processors")
