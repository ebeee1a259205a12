"""Register the table and the figures of interventions, of each dataset, generator and scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.interventions"
INTERVENTIONS = Scope("interventions", ("dataset", "generator", "scorer"), "draw_interventions")
RESULT_TABLES = (
    ResultTable("intervention_effects", "{dataset}/analysis/{scorer}/{generator}/intervention_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:COLUMNS",
                "how one relevant passage changes P, next to relay's slope", "interventions"),
    ResultTable("passage_effects", "{dataset}/analysis/{scorer}/{generator}/passage_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:PASSAGE_COLUMNS",
                "how each removed or repeated passage changes its query's P", "interventions"),
)  # fmt: skip
PARTS = {"interventions": Part("Effects of one passage")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "intervention_places", INTERVENTIONS, f"{MODULE}.figures:effects_by_place", ("intervention_effects",),
        "interventions", "Effect of one relevant passage by its position",
        "How much P changes if a relevant passage replaces a non-relevant one, by its position in the prompt. There is "
        "a line per k; bars are intervals over queries that hold simultaneously for all positions at one k.",
        "There is a line per k. Bars are intervals over queries with level 1 − 5% / k, so the intervals at one k hold "
        "simultaneously.",
    ),
    Table(
        "intervention_effects", INTERVENTIONS, ("intervention_effects",),
        "Effect of one relevant passage, by k and position, next to relay", "", "interventions",
        f"{MODULE}.page_tables:effect_table", {},
        note="Each query’s effects are averaged over positions and draws, then over queries; effects of a context's "
             "own passages are compared at equal positions. Slopes are per 0.1 of the measure. The effect’s slope is "
             "causal; relay’s is a correlation over all rankings in the same cell.",
        limited=True,
    ),
)  # fmt: skip
"""In the order of the page."""
