"""ragrelay: is relevance relayed from the retriever to the answer?"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ragrelay.results import Results

__version__ = "0.1.0"


def open(folder: "str | Path") -> "Results":
    """The results of a finished study, such as ``ragrelay.open("results/demo")``: tables, answers, figure.

    Raises InputError where there is no such folder.
    """
    from ragrelay.results import open_results

    return open_results(folder)
