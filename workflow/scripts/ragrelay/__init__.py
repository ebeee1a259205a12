"""ragrelay: is relevance relayed from the retriever to the answer?"""

__version__ = "0.2.0.dev0"


# Import inside the function and by name. A job's code digest covers this module and its top-level imports, so otherwise
# every module in the package would depend on all the others.
def open(folder):  # type: ignore[no-untyped-def]
    """Open a finished study's results: its tables, the answers on its page and the main figure.

    For example, ``ragrelay.open("results/demo")``.

    Args:
        folder: The study's folder, ``results/<study>``.

    Returns:
        A Results object (annexes.notebook.study_results).

    Raises:
        InputError: The folder doesn't exist or doesn't contain a study's tables.
    """
    from importlib import import_module

    return import_module("ragrelay.annexes.notebook.study_results").open_results(folder)
