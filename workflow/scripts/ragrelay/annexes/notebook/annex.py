"""The annex of reading a study from Python."""

from ragrelay.base.annex import Annex


class Notebook(Annex):
    """Read the results of a study in a notebook (`ragrelay.open`, `ragrelay.pyterrier`)."""

    order = 7
    doors = ("open", "pyterrier")
