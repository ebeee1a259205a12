"""Register the table and the figures of interventions, of each dataset, generator and scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.interventions"
INTERVENTIONS = Scope("interventions", ("dataset", "generator", "scorer"), "draw_interventions")
RESULT_TABLES = (
    ResultTable("intervention_effects", "{dataset}/analysis/{scorer}/{generator}/intervention_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:COLUMNS",
                "what one relevant passage does to P, beside relay's slope", "interventions"),
    ResultTable("passage_effects", "{dataset}/analysis/{scorer}/{generator}/passage_effects.csv",
                "analyse_interventions", f"{MODULE}.effects:PASSAGE_COLUMNS",
                "what each passage that was left out or repeated does to its query's P", "interventions"),
)  # fmt: skip
PARTS = {"interventions": Part("Effects of one passage")}
OUTPUTS: tuple[Output, ...] = (
    Figure(
        "intervention_places", INTERVENTIONS, f"{MODULE}.figures:effects_by_place", ("intervention_effects",),
        "interventions", "Effect of one relevant passage by its place",
        "Effect on P of a relevant passage instead of a non-relevant one by its place in the prompt: a line per k, "
        "bars for intervals over queries that hold together for the places of one k.",
        "A line per k. Bars are intervals over queries, of level 1 − 5% / k, so that those of one k hold together.",
    ),
    Table(
        "intervention_effects", INTERVENTIONS, ("intervention_effects",),
        "Effect of one relevant passage, by k and place, beside relay", "", "interventions",
        f"{MODULE}.page_tables:effect_table", {},
        note="Means over queries, first over the places and draws of a query; of a context's own passages, at equal "
        "places. Slopes are per 0.1 of the measure: of "
        "the effect, by cause; of relay, a correlation over all rankings in the same cell.",
        limited=True,
    ),
)  # fmt: skip
"""In the order of the page."""
