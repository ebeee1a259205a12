"""Register the tables and the figure about interventions (one set per dataset, generator and scorer)."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.interventions"
INTERVENTIONS = Scope("interventions", ("dataset", "generator", "scorer"), "draw_interventions")
RESULT_TABLES = (
    ResultTable("intervention_effects", "{dataset}/analysis/{scorer}/{generator}/intervention_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:COLUMNS",
                "effect of one relevant passage on P, with relay's slope for comparison", "interventions"),
    ResultTable("passage_effects", "{dataset}/analysis/{scorer}/{generator}/passage_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:PASSAGE_COLUMNS",
                "effect of removing or repeating each passage on the query's P", "interventions"),
)  # fmt: skip
PARTS = {"interventions": Part("Effects of one passage")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "intervention_places", INTERVENTIONS, f"{MODULE}.figures:effects_by_place", ("intervention_effects",),
        "interventions", "Effect of one relevant passage by its position",
        "Change in P if a relevant passage replaces a non-relevant one, by position in the prompt. There is one line "
        "per k. Bars are intervals over queries; all intervals at one k hold simultaneously.",
        "There is one line per k. Bars are intervals over queries at level 1 − 5% / k, so that all intervals at one k "
        "hold simultaneously.",
    ),
    Table(
        "intervention_effects", INTERVENTIONS, ("intervention_effects",),
        "Effect of one relevant passage, by k and position, compared with relay", "", "interventions",
        f"{MODULE}.page_tables:effect_table", {},
        note="Effects are averaged over positions and draws within each query, then over queries. Effects of a "
             "context’s own passages are compared at equal positions. Slopes are per 0.1 of the measure: the effect’s "
             "slope is causal; relay’s slope is correlational and estimated from all rankings in the same cell.",
        limited=True,
    ),
)  # fmt: skip
"""The figure and tables on interventions, in the order in which the page shows them."""
