"""The annex for reading a study's results in Python."""

from ragrelay.base.annex import Annex


class Notebook(Annex):
    """Read a study's results in a notebook (`ragrelay.open`, `ragrelay.pyterrier`)."""

    order = 7
    doors = ("open", "pyterrier")
