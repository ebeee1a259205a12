"""The annex that exports results in other programs' formats."""

from ragrelay.base.annex import Annex


class Exchange(Annex):
    """Export answers and tables in other programs' formats, and describe the results (target `export`)."""

    order = 6
    builds_on = ("notebook",)
    reserved = ("export", "ro-crate-metadata.json")
