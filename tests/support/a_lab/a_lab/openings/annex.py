"""The annex of openings."""

from ragrelay.extend import Annex, ResultTable

TABLES = (
    ResultTable(
        "openings",
        "{dataset}/openings/{generator}.csv",
        "count_openings",
        "a_lab.openings.counts:COLUMNS",
        "the first word of answers and how many have it",
    ),
)


class Openings(Annex):
    """Count how answers begin."""

    order = 90
    result_tables = TABLES
    shown = "count_openings"
    template = "openings.html.j2"
    link = ("openings", "Openings")
