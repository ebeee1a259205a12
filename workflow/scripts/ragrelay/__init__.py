"""ragrelay: is relevance relayed from the retriever to the answer?"""

__version__ = "0.2.0.dev0"


# The import is inside the function and by name: a job's code includes this module and all that it imports above, and
# every module of the package would depend on all others through this one.
def open(folder):  # type: ignore[no-untyped-def]
    """Return the Results (annexes.notebook.study_results) of a finished study by its folder: tables, answers, figure.

    ``ragrelay.open("results/demo")``. Raises InputError where there is no such folder.
    """
    from importlib import import_module

    return import_module("ragrelay.annexes.notebook.study_results").open_results(folder)
