"""Register the tables and figures that compare the study with published tables."""

from ragrelay.report.display.outputs import Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.reproduction"
REPRODUCTION = Scope("reproduction", (), "compare_published")
RESULT_TABLES = (
    ResultTable("reproduced_cells", "reproduction/cells.csv", "compare_published", f"{MODULE}.cells:COLUMNS",
                "mean utility of each cell in a published table, with the published value and marks",
                "published.utility"),
    ResultTable("reproduced_summary", "reproduction/summary.csv", "compare_published", f"{MODULE}.measures:SUMMARY",
                "agreement with a published table, summarised over cells", "published.utility"),
    ResultTable("reproduced_effects", "reproduction/effects.csv", "compare_published", f"{MODULE}.measures:EFFECTS",
                "improvements over the first retriever, next to the published improvements", "published.utility"),
    ResultTable("reproduced_findings", "reproduction/findings.csv", "compare_published", f"{MODULE}.findings:COLUMNS",
                "tests of the paper's three findings on this study's queries", "published.utility"),
    ResultTable("reproduced_labels", "reproduction/labels.csv", "compare_published_labels", f"{MODULE}.labels:LABELS",
                "correlations between sources' labels and P, next to the published correlations", "published.labels"),
    ResultTable("reproduced_label_cost", "reproduction/label_cost.csv", "compare_published_cost",
                f"{MODULE}.labels:COST",
                "seconds for end-to-end answers and for single-passage answers, next to the published times",
                "published.label_cost"),
    ResultTable("reproduced_claims", "reproduction/claims.csv", "compare_published_claims", f"{MODULE}.claims:CLAIMS",
                "mean ACU by set of claims and generator, next to the published means", "published.claims"),
    ResultTable("reproduced_rows", "reproduction/rows.csv", "list_published_rows", f"{MODULE}.rows:ROWS",
                "the papers' tables and figures that the study reproduces: status and location", "published"),
)  # fmt: skip
PARTS = {
    "utility": Part("Utility, as in Table 1 of Tian et al. (ECIR 2025)"),
    "labels": Part("Annotation sources, as in Tables 1 and 2 of Salemi and Zamani (SIGIR 2024)"),
    "claims": Part("Mean ACU, as in Hagström et al. (ACL 2025)"),
    "rows": Part("The papers’ tables and figures"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "reproduced_findings", REPRODUCTION, ("reproduced_findings",), "The paper’s findings, tested on this study",
        "", "utility", f"{MODULE}.tables:finding_table", {},
        note="The estimates are (a) the mean of Pearson’s r over cells, (b) the mean slope of r over k, and (c) the "
             "mean difference in P, the retriever with the higher measure minus the other. Oracles are excluded. “As "
             "in the paper” and “the opposite” require p < 0.05, uncorrected. The spread of nDCG@k shrinks with k, so "
             "r may fall even if relay doesn’t.",
    ),
    Table(
        "reproduced_summary", REPRODUCTION, ("reproduced_summary",), "Agreement with the published table", "",
        "utility", f"{MODULE}.tables:summary_table", {},
        note="τ and ρ compare the order of the cells in the two tables. RMSE and the mean difference are over cells.",
    ),
    Table(
        "reproduced_effects", REPRODUCTION, ("reproduced_effects",),
        "Improvements over the first retriever of the table", "", "utility", f"{MODULE}.tables:effect_table", {},
        note="As in Breuer et al. (SIGIR 2020), with cells instead of topics: the effect ratio ER is our improvement "
             "divided by the published one (1 is perfect); ΔRI is the published relative improvement minus ours (0 is "
             "perfect).",
    ),
    Table(
        "reproduction", REPRODUCTION, ("reproduced_cells",), "Each cell compared with its published value",
        "Mean utility of each cell and the published value, as a LaTeX table.",
        "utility", f"{MODULE}.tables:reproduced_cell_table", {"tex": "ragrelay.annexes.reproduction.latex:cells_latex"},
        note="Inside: the published value lies in our 95% interval. † marks a difference from the reference retriever; "
             "‡, in rows with ascending order, marks a difference between ascending and descending order.",
    ),
    Table(
        "reproduced_labels", REPRODUCTION, ("reproduced_labels",),
        "Correlations between each source’s measures and P, compared with the published correlations", "", "labels",
        f"{MODULE}.tables:label_table", {},
        note="Our correlations are at the study’s largest k, the published ones for 50 passages and Fusion-in-Decoder.",
    ),
    Table(
        "reproduced_label_cost", REPRODUCTION, ("reproduced_label_cost",),
        "Cost of the generator’s labels, compared with the published seconds", "", "labels",
        f"{MODULE}.tables:reproduced_cost_table", {},
        note="Seconds depend on the machine; compare only their ratio.",
    ),
    Table(
        "reproduced_claims", REPRODUCTION, ("reproduced_claims",), "Mean ACU compared with the published means", "",
        "claims", f"{MODULE}.tables:claim_table", {},
        note="Our means are over all stances. The authors’ notebook doesn’t say which stances its means include.",
    ),
    Table(
        "reproduced_rows", REPRODUCTION, ("reproduced_rows",),
        "Tables and figures of the papers that this study is compared with", "", "rows",
        f"{MODULE}.tables:row_table", {},
        note="Locations are relative to the study’s results. Commands are in docs/reproduce-….md, one page per paper.",
    ),
)  # fmt: skip
"""The tables and figures of the comparison, in the order in which the page shows them."""
