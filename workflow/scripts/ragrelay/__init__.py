"""ragrelay: is relevance relayed from the retriever to the answer?"""

__version__ = "0.2.0.dev0"


# The import is inside the function and by name: a job's code includes this module and all that it imports above, and
# every module of the package would depend on all others through this one.
def open(folder):  # type: ignore[no-untyped-def]
    """Open a finished study's results: its tables, the page's answers and the main figure.

    ``ragrelay.open("results/demo")``.

    Args:
        folder: The study's folder, ``results/<study>``.

    Returns:
        The Results (annexes.notebook.study_results).

    Raises:
        InputError: There is no such folder, or it has no table from a study.
    """
    from importlib import import_module

    return import_module("ragrelay.annexes.notebook.study_results").open_results(folder)
