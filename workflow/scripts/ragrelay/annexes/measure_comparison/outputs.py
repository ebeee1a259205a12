"""Register the tables and the figure of the comparison of measures, of each dataset, generator and scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.measure_comparison"
MEASURES = Scope("measures", ("dataset", "generator", "scorer"), "draw_measures")
FOLDER = "{dataset}/analysis/{scorer}/{generator}"
RESULT_TABLES = (
    ResultTable("measure_fit", f"{FOLDER}/measure_fit.csv", "compare_measures", f"{MODULE}.closeness:FIT_COLUMNS",
                "how closely each retrieval measure follows the answers", "compare_measures"),
    ResultTable("measure_pairs", f"{FOLDER}/measure_pairs.csv", "compare_measures", f"{MODULE}.closeness:PAIR_COLUMNS",
                "paired differences between retrieval measures", "compare_measures"),
)  # fmt: skip
PARTS = {"measures": Part("Measures")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "measure_fit", MEASURES, f"{MODULE}.figures:fit_of_measures", ("measure_fit", "measure_pairs"), "measures",
        "r of each measure",
        "r of each retrieval measure with simultaneous intervals; a bar joins measures between which no difference is "
        "known.",
        "Intervals hold together at 95%. Hollow points are measures without known relay. A bar at the right joins "
        "neighbours between which no difference is known. Differences are paired, so two intervals may overlap "
        "although one measure is ahead.",
    ),
    Table(
        "measure_fit", MEASURES, ("measure_fit",), "How closely each measure follows the answers", "", "measures",
        f"{MODULE}.page_tables:fit_table", {},
        note="r correlates the differences between rankings in the measure and in P; its intervals in a cell hold "
             "together at 95%. r² is the share that the measure explains on unseen queries. Tied: equal values of the "
             "measure among pairs of rankings with different contexts; a coarser measure follows less closely for that "
             "reason alone.",
        limited=True,
    ),
    Table(
        "measure_pairs", MEASURES, ("measure_pairs",), "Differences between measures", "", "measures",
        f"{MODULE}.page_tables:pair_table", {},
        note="The difference in r², the first measure’s minus the second’s. Intervals and verdicts of a cell hold "
             "together at 95%; p is for the pair alone.",
        limited=True,
    ),
)  # fmt: skip
"""In the order of the page."""
