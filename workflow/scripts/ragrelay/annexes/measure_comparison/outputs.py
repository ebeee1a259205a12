"""Register the tables and the figure that compare measures (one set per dataset, generator and scorer)."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.measure_comparison"
MEASURES = Scope("measures", ("dataset", "generator", "scorer"), "draw_measures")
FOLDER = "{dataset}/analysis/{scorer}/{generator}"
RESULT_TABLES = (
    ResultTable("measure_fit", f"{FOLDER}/measure_fit.csv", "compare_measures", f"{MODULE}.closeness:FIT_COLUMNS",
                "how closely each retrieval measure tracks answer quality", "compare_measures"),
    ResultTable("measure_pairs", f"{FOLDER}/measure_pairs.csv", "compare_measures", f"{MODULE}.closeness:PAIR_COLUMNS",
                "paired differences between retrieval measures", "compare_measures"),
)  # fmt: skip
PARTS = {"measures": Part("Measures")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "measure_fit", MEASURES, f"{MODULE}.figures:fit_of_measures", ("measure_fit", "measure_pairs"), "measures",
        "Correlation between differences in P and in each measure",
        "r of each retrieval measure with simultaneous intervals; a bar joins measures between which no difference is "
        "shown.",
        "All intervals hold simultaneously at 95%. A hollow point is a measure without demonstrated relay. A bar on "
        "the right joins neighbouring measures between which no difference is shown. Differences are paired, so one "
        "measure may be ahead of another even if their intervals overlap.",
    ),
    Table(
        "measure_fit", MEASURES, ("measure_fit",), "How closely each measure tracks answer quality", "", "measures",
        f"{MODULE}.page_tables:fit_table", {},
        note="r is the correlation between the differences in the measure and the differences in P between rankings; "
             "all intervals in a cell hold simultaneously at 95%. r² is the share of the differences in P that the "
             "measure explains on unseen queries. Tied: how often the measure is equal for two rankings with different "
             "contexts; more ties alone make a measure track P less closely.",
        limited=True,
    ),
    Table(
        "measure_pairs", MEASURES, ("measure_pairs",), "Differences between measures", "", "measures",
        f"{MODULE}.page_tables:pair_table", {},
        note="The difference is the first measure’s r² minus the second’s. All intervals and verdicts in a cell hold "
             "simultaneously at 95%; p-values are for a single pair.",
        limited=True,
    ),
)  # fmt: skip
"""The figure and tables of the comparison, in the order in which the page shows them."""
