"""Register a study's figures, tables and result tables, and the parts of the page.

To add a figure, register its function in a Figure. To add a table, add three things: an analysis module that defines
``COLUMNS`` and ``table``, a ResultTable, and a Table. Example: tests/e2e/test_additions.py.
"""

from ragrelay.report.display.outputs import (
    DEPTH,
    GROUP,
    SECTION,
    SIZED,
    STUDY,
    Figure,
    Output,
    Part,
    ResultTable,
    Table,
)

PAPER = "Tian et al., ECIR 2025"
ANALYSIS = "{dataset}/analysis/{scorer}/{generator}"
SCORES = "{dataset}/described/scores/{scorer}/{generator}"
ANSWERS = "{dataset}/described/answers/{generator}"
RESULT_TABLES = {
    table.name: table
    for table in (
        ResultTable("utility", f"{ANALYSIS}/utility.csv", "analyse_transmission", "ragrelay.analysis.summary:COLUMNS",
                    "mean P and mean utility of each cell"),
        ResultTable("correlation", f"{ANALYSIS}/correlation.csv", "analyse_transmission",
                    "ragrelay.analysis.correlation:COLUMNS",
                    "correlation over queries between retrieval measures and utility, per cell"),
        ResultTable("significance", f"{ANALYSIS}/significance.csv", "analyse_transmission",
                    "ragrelay.analysis.significance:COLUMNS", "the paired tests behind the marks † and ‡"),
        ResultTable("differences", f"{ANALYSIS}/differences.csv", "analyse_transmission",
                    "ragrelay.analysis.dependent:COLUMNS", "differences between correlations, with tests"),
        ResultTable("gain", f"{ANALYSIS}/gain.csv", "analyse_transmission", "ragrelay.analysis.gain:COLUMNS",
                    "P compared with P₀, paired by query, with a verdict for each cell"),
        ResultTable("within", f"{ANALYSIS}/within.csv", "analyse_transmission", "ragrelay.analysis.within:COLUMNS",
                    "correlation within queries between the measure and P, over the contexts from "
                    "different retrievers"),
        ResultTable("relay", f"{ANALYSIS}/relay.csv", "analyse_transmission", "ragrelay.analysis.relay:COLUMNS",
                    "relay: how much more the answer improves on queries where the ranking improves more"),
        ResultTable("holes", f"{ANALYSIS}/holes.csv", "analyse_transmission", "ragrelay.analysis.holes:COLUMNS",
                    "relay's slope under other labels for unjudged passages (holes)"),
        ResultTable("systems", f"{ANALYSIS}/systems.csv", "analyse_transmission", "ragrelay.analysis.systems:COLUMNS",
                    "differences in mean P between retrievers, paired by query; the primary pair is tested separately"),
        ResultTable("equivalence", f"{ANALYSIS}/equivalence.csv", "analyse_transmission",
                    "ragrelay.analysis.equivalence:COLUMNS",
                    "tests of whether each retriever is equivalent to the reference retriever in mean P"),
        ResultTable("coupling", f"{ANALYSIS}/coupling.csv", "analyse_transmission",
                    "ragrelay.analysis.coupling:COLUMNS",
                    "how utility depends on P₀, and the measure's correlation with P given P₀"),
        ResultTable("clusters", f"{ANALYSIS}/clusters.csv", "analyse_transmission",
                    "ragrelay.analysis.cluster_sizes:COLUMNS",
                    "number and size of query clusters; no rows if queries are independent"),
        ResultTable("per_query", "{dataset}/utility/{scorer}/{generator}.parquet", "compute_utility",
                    "ragrelay.analysis.utility:COLUMNS", "P, P₀ and utility for each query in each cell"),
        ResultTable("retrieval", "{dataset}/retrieval/{retriever}.parquet", "measure_retrieval",
                    "ragrelay.base.vocabulary.measures:COLUMNS", "retrieval measures for each query"),
        ResultTable("pooled", "pooled.csv", "pool_samples", "ragrelay.analysis.pooled:COLUMNS",
                    "the study's main results averaged over its generators, by dataset and for all "
                    "datasets", "several"),
        ResultTable("variance", f"{ANALYSIS}/variance.csv", "decompose_variance",
                    "ragrelay.analysis.variance:COLUMNS", "share of the variance of P that is due to seeds"),
        ResultTable("positions", f"{SCORES}/positions.csv", "describe_scores", "ragrelay.analysis.positions:COLUMNS",
                    "mean utility by the position of a relevant passage in the prompt"),
        ResultTable("spread", f"{SCORES}/spread.csv", "describe_scores", "ragrelay.analysis.spread:COLUMNS",
                    "how much P varies between seeds"),
        ResultTable("lengths", f"{ANSWERS}/lengths.csv", "describe_answers", "ragrelay.analysis.lengths:COLUMNS",
                    "how long the answers are and how they end"),
        ResultTable("cost", f"{ANSWERS}/cost.csv", "describe_answers", "ragrelay.analysis.cost:COLUMNS",
                    "the cost of generating the answers"),
        ResultTable("judge_checks", f"{ANALYSIS}/judge_checks.csv", "analyse_judge_checks",
                    "ragrelay.analysis.judge_checks:COLUMNS",
                    "how much a judge's scores depend on the order of the judge's input and on the "
                    "answer's length", "bias_checks"),
        ResultTable("panel", f"{ANALYSIS}/panel.csv", "compare_judges", "ragrelay.analysis.panel:COLUMNS",
                    "a panel's results with each judge left out in turn", "panels"),
        ResultTable("panel_agreement", f"{ANALYSIS}/panel_agreement.csv", "compare_judges",
                    "ragrelay.analysis.panel:AGREEMENT_COLUMNS", "agreement between a panel's judges", "panels"),
        ResultTable("context_use", f"{ANALYSIS}/context_use.csv", "split_utility",
                    "ragrelay.analysis.context_use_split:COLUMNS",
                    "mean utility, split by whether the context was good and whether the answer used "
                    "it", "context_use"),
    )
}  # fmt: skip
WITH_BASELINE = {
    "quantity": "utility",
    "Quantity": "Utility",
    "quantities": "P and utility",
    "means": "Mean P (or mean utility)",
    "compared": "the mean of P − P₀",
    "both": ", both for P and for P₀",
    "without": ", and utility on unseen references",
    "with_r": "; r is Pearson’s, with its 95% interval",
    "no_zero_shot": "This table has no zero-shot row, because P₀ on unseen references differs between contexts. The "
    "table of all cells has it.",
}
WITHOUT_BASELINE = {
    **dict.fromkeys(WITH_BASELINE, ""),
    "quantity": "P",
    "Quantity": "P",
    "quantities": "P",
    "means": "Mean P",
    "compared": "the mean difference in P between two retrievers",
}
"""Words for titles and notes, for sections with and without zero-shot answers."""
PARTS = {
    "gain": Part(
        "P with passages and without",
        "“Better” and “worse” are verdicts on mean P − P₀ over the same queries, tested at 5% in each cell "
        "(docs/methods.md).",
    ),
    "systems": Part(
        "Retrievers compared with each other",
        "“Better” and “worse” are verdicts on the mean difference in P over the same queries (docs/methods.md).",
    ),
    "relay": Part(
        "Relay",
        "For each pair of retrievers, relay relates a query’s difference in P to its difference in {measure}@k, over "
        "queries whose contexts differ. It doesn’t show which retriever gives better answers on average.",
    ),
    "table": Part("{quantities} by retriever, ordering and k"),
    "relayed": Part("{Quantity} and the ranking of the context"),
    "within": Part(
        "Contexts of one query",
        "Different retrievers give the same query different contexts. Does the better-ranked context lead to the "
        "better answer?",
    ),
    "tests": Part("Tests"),
    "copying": Part(
        "Copying from the context",
        "If a context contains references, P rewards answers that copy them. Unseen references exclude those that the "
        "context shows{both}.",
    ),
    "used": Part(
        "Was the context used?",
        "Context use is how much the context raises the answer’s log-probability, per token. Text change is 1 − F1 "
        "between the words of the answer and of the answer without context. A context is good if {measure}@k is above "
        "0 and at least its median over all retrievers; it is used if context use is at least the median.",
    ),
    "panel": Part(
        "Does the result depend on one judge?",
        "P is the mean over the panel’s judges. A verdict must hold for this mean and for every mean that leaves out "
        "one judge. It applies to these judges only: they may share a bias, and other judges may disagree.",
    ),
    "judge": Part(
        "Checks of the judge",
        "The judge scored some answers again after a change that should make no difference: its input was reordered, "
        "or the answer was padded. An unbiased judge would give the same score.",
    ),
    "answers": Part("Answers"),
    "all": Part("All cells"),
    "pooled": Part("Each dataset, and all datasets"),
}
"""The parts of a section, in the page's order."""
OUTPUTS: tuple[Output, ...] = (
    Table(
        "pooled", STUDY, ("pooled",), "Over all generators, by dataset", "", "pooled",
        show="ragrelay.report.verdict_tables:pooled_table", files={},
        note="Each query’s P and P₀ are averaged over the generators. The row for all datasets is a "
             "random-effects estimate.",
    ),
    Figure(
        "mean_quality", SECTION, "ragrelay.report.paper_figures:mean_quality", ("per_query",), "",
        "Mean P against k, in column widths for papers",
        "Each retriever's mean P against k, with 95% intervals over queries, in the primary comparison's ordering and "
        "reference grade. A line shows the mean P of answers without context. The figure comes in one-column and "
        "two-column widths.",
        endings=SIZED,
    ),
    Table(
        "gain", SECTION, ("gain",), "P compared with P₀ in every cell",
        "For each cell, the mean of P − P₀ over the same queries with its 95% interval, tests and verdict; the ratio "
        "of means, mean and median utility; and the query with the largest share of summed absolute utility.",
        "gain", "ragrelay.report.verdict_tables:gain_table", limited=True, baseline=True,
        note="The interval and the verdict belong to the test whose p-value is “p, verdict”. “p, t-test” comes from "
             "Student’s test alone and may be smaller.",
    ),
    Table(
        "coupling", SECTION, ("coupling",), "Dependence of utility on P₀",
        "How utility correlates with P₀ over queries, how the measure correlates with P given P₀ (partial "
        "correlations), and mean utility for each third of P₀.",
        "gain", "ragrelay.report.verdict_tables:coupling_table", limited=True, baseline=True,
    ),
    Table(
        "systems", SECTION, ("systems",), "Systems: differences in mean P between retrievers",
        "Mean difference in P over the same queries: for the primary pair, for each retriever against the reference "
        "retriever, and for all other pairs. Intervals are simultaneous at 95% for all pairs with the same role in a "
        "cell.",
        "systems", "ragrelay.report.verdict_tables:systems_table", limited=True,
    ),
    Table(
        "equivalence", SECTION, ("equivalence",), "Difference in P from the reference retriever",
        "How much each retriever's P differs from the reference retriever's in the same cell. The verdict follows from "
        "the interval, which is Bonferroni-corrected for the cell's retrievers; two one-sided tests check whether the "
        "difference lies within a margin.",
        "systems", "ragrelay.report.verdict_tables:equivalence_table", limited=True,
    ),
    Table(
        "clusters", SECTION, ("clusters",), "Clusters of queries",
        "How many clusters the queries form, how many equally large clusters would carry as much information, and the "
        "largest cluster. The table is empty if queries are independent.",
        "systems", "ragrelay.report.verdict_tables:clusters_table",
    ),
    Figure(
        "differences_by_query", SECTION, "ragrelay.report.paper_figures:differences_by_query",
        ("per_query", "retrieval", "relay"), "relay", "Relay: differences in P and in the measure, per query",
        "For each query, the difference in P between two rankings against the difference in the measure, with relay's "
        "slope, in the primary comparison's cell. The figure comes in one-column and two-column widths.",
        "Points are queries whose contexts differ; the line has relay’s slope, per 0.1 of the measure.",
        limited=True, queries=True, endings=SIZED, only_with="rankings",
    ),
    Table(
        "relay", SECTION, ("relay",), "Relay: how much more P improves where the ranking improves more",
        "The slope of the difference in P on the difference in each measure, for each pair of rankings and for all "
        "pairs together, with 95% intervals over queries. Both differences are centred over the queries whose contexts "
        "differ. The table also gives the slope adjusted for a query's mean measure and P₀. On unseen references, "
        "P − P₀ replaces P.",
        "relay", "ragrelay.report.verdict_tables:relay_table", limited=True,
    ),
    Table(
        "holes", SECTION, ("holes",), "Relay under other labels for unjudged passages (holes)",
        "Relay's slope over all rankings in the primary comparison's ordering, if more than 5% of the passages in the "
        "contexts are unjudged: as measured (none of them relevant), with all of them relevant, and with the labels "
        "that give the lowest and the highest slope. The last two come from a search, which may miss more extreme "
        "labels. P stays the same, because an unjudged passage is never a reference.",
        "relay", "ragrelay.report.verdict_tables:holes_table",
    ),
    Figure(
        "doses", SECTION, "ragrelay.report.paper_figures:doses", ("per_query",), "within",
        "Doses of relevance: mean P against the number of relevant passages",
        "Mean P against the number of relevant passages in the context, over queries that have every dose, with 95% "
        "intervals. There is a line per k or, if there are several kinds of other passages, a line per kind. The "
        "figure comes in one-column and two-column widths.",
        "There is a line per k and a panel per ordering or, with several kinds of other passages, a line per kind and "
        "a panel per k. All points in a panel are over the same queries. Because the study sets the doses by design, "
        "they cause the differences shown here.",
        endings=SIZED, only_with="doses",
    ),
    Table(
        "within", SECTION, ("within",), "Within queries: correlation between the measure and P",
        "Repeated-measures correlation between each measure and P over the contexts of one query, with 95% intervals "
        "over queries, for each ordering and k and over all of them. On unseen references, P − P₀ replaces P.",
        "within", "ragrelay.report.verdict_tables:within_table", limited=True,
    ),
    Figure(
        "within", SECTION, "ragrelay.report.figures_by_k:within_by_k", ("within",), "within",
        "Within queries: correlation between the measure and P, against k",
        "Repeated-measures correlation between the context's retrieval measure and P over the contexts of one query, "
        "against k. Bars are 95% intervals over queries.",
        "There is a panel per ordering and a line per group of retrievers. Bars are 95% intervals over queries. Above "
        "zero, a query’s better context tends to have the better answer.",
    ),
    Table(
        "table1", SECTION, ("utility", "significance"), "{means}, as in Table 1 of " + PAPER,
        "Mean utility and mean P by retriever, ordering, k and reference grade. † marks a difference from the "
        "reference retriever (descending order, same k and grade); ‡ marks ascending order where it differs from "
        "descending. As in the paper, both rest on paired t-tests with uncorrected p < 0.05. On unseen references, † "
        "compares scores on different reference sets, as each retriever's set excludes the passages in its contexts.",
        "table", "ragrelay.report.table1:table1",
        {"csv": "ragrelay.report.table1:table1_frame", "unseen.csv": "ragrelay.report.table1:unseen_table1_frame"},
        "ragrelay.report.table1:COLUMNS", macro="first_table",
    ),
    Table(
        "table1", GROUP, ("utility", "significance"), "Table 1 for all datasets",
        "Mean utility and mean P by retriever, ordering, k and reference grade: one LaTeX table per generator and "
        "scorer, with all datasets.",
        files={
            "tex": "ragrelay.report.latex:table1_latex", "p.tex": "ragrelay.report.latex:p_latex",
            "unseen.tex": "ragrelay.report.latex:unseen_table1_latex",
            "p.unseen.tex": "ragrelay.report.latex:unseen_p_latex",
        },
    ),
    Figure(
        "utility", SECTION, "ragrelay.report.figures_by_k:utility_by_k", ("utility",), "table",
        f"Mean utility against k (as in Figure 3 of {PAPER})",
        "Mean utility against k: a line per retriever, a panel per ordering and reference grade. Bars are 95% "
        "intervals over queries.",
        "There is a panel per ordering and reference grade. Bars are 95% intervals over queries; retrievers are "
        "drawn slightly to the left or right of their k.",
    ),
    Figure(
        "distribution", SECTION, "ragrelay.report.distribution:utility_by_query", ("utility", "per_query"), "table",
        "{Quantity} of each query",
        "Each query's utility at the largest k and the first reference grade, in a panel per ordering. Points are "
        "queries, boxes show the quartiles and the median, and lines reach from the 5% to the 95% quantile.",
        "Points are queries; boxes show the quartiles and the median, and lines reach from the 5% to the 95% quantile.",
        limited=True, queries=True,
    ),
    Table(
        "correlation", SECTION, ("correlation",),
        "Correlation over queries between the retrieval measure and utility, with intervals",
        "Pearson's r, Spearman's rho and Kendall's tau-b between each measure and utility over queries, with 95% "
        "intervals, n and p-values, or the reason why there is no correlation.",
        "relayed", "ragrelay.report.transmission_tables:correlation_table",
        {"csv": "ragrelay.report.transmission_tables:wide_correlation",
         "tex": "ragrelay.report.latex_long:correlation_latex",
         "unseen.tex": "ragrelay.report.latex_long:unseen_correlation_latex"},
        "ragrelay.report.transmission_tables:WIDE_CORRELATION", limited=True, baseline=True,
    ),
    Figure(
        "scatter", SECTION, "ragrelay.report.scatter:utility_by_measure", ("utility", "correlation", "per_query",
        "retrieval"), "relayed",
        "{measure}@k against {quantity}, per query " + f"(as in Figure 4 of {PAPER})",
        "For each query, the context's retrieval measure against the answer's utility, at the largest k and the first "
        "reference grade, with the least-squares line and Pearson's r. If there are very many queries, the figure "
        "shows an evenly spaced sample.",
        "Lines are least-squares fits{with_r}.",
        limited=True, queries=True,
    ),
    Figure(
        "scatter", DEPTH, "ragrelay.report.scatter:utility_by_measure", ("utility", "correlation", "per_query",
        "retrieval"), "", "{measure}@k against utility, per query, at one k " + f"(k = 5 in Figure 4 of {PAPER})",
        "The same figure for a single k. The report includes k = 5, as in the paper; to draw another k, request its "
        "file.",
    ),
    Figure(
        "correlation", SECTION, "ragrelay.report.figures_by_k:correlation_by_k", ("correlation",), "relayed",
        f"Correlation with utility, against k (as in Figure 5 of {PAPER})",
        "Pearson's r between the context's retrieval measure and the answer's utility over queries, against k. Bands "
        "are 95% intervals.",
        "Bands are 95% intervals over queries. If a retriever has no line, the table gives the reason.",
        limited=True,
    ),
    Table(
        "differences", SECTION, ("differences",),
        "Comparisons of correlations over the same queries; a trend is the slope of r over k",
        "Pearson's r compared between retrievers and between descending and ascending order, and its trend over k. The "
        "intervals come from leaving out and resampling entire queries. p-values are adjusted within the families "
        "that the table names.",
        "relayed", "ragrelay.report.statistics_tables:differences_table", limited=True, baseline=True,
    ),
    Table(
        "significance", SECTION, ("significance",), "Paired t-tests behind the marks † and ‡",
        "The paired tests behind the marks † and ‡ (Student's t, Wilcoxon, permutation), with effect sizes and "
        "p-values adjusted within their families. On unseen references, † compares scores on different reference sets.",
        "tests", "ragrelay.report.transmission_tables:significance_table",
        {"csv": "", "tex": "ragrelay.report.latex_long:significance_latex",
         "unseen.tex": "ragrelay.report.latex_long:unseen_significance_latex"},
        limited=True,
    ),
    Table(
        "copying", SECTION, ("utility",),
        "How often the best reference was in the context{without}",
        "How often an answer's best-matching reference was in its context, and utility computed on references that "
        "weren't in it.",
        "copying", "ragrelay.report.transmission_tables:copying_table",
        {"csv": "ragrelay.report.transmission_tables:copying_frame"},
        "ragrelay.report.transmission_tables:COPYING",
    ),
    Table(
        "unseen", SECTION, ("utility", "significance"), "{means} on unseen references", "",
        "copying", "ragrelay.report.table1:unseen_table1", {}, macro="first_table",
        note="{no_zero_shot}",
    ),
    Table(
        "context_use", SECTION, ("context_use",),
        "Context use of the answers, and mean utility by whether the context was good and used",
        "How much the context raises the answer's log-probability, and mean utility by whether the context was good "
        "and used.",
        "used", "ragrelay.report.context_use_page:used_table",
    ),
    Table(
        "panel", SECTION, ("panel",), "Results with one judge left out",
        "The primary pair's difference in P and relay's slope: with all judges of a panel, with each judge left out, "
        "and with the left-out judge alone.",
        "panel", "ragrelay.report.panel_page:panel_table",
    ),
    Table(
        "panel_agreement", SECTION, ("panel_agreement",), "Agreement between judges",
        "Cohen's kappa between the yes and no judgements of each pair of judges, with 95% intervals over queries; "
        "Spearman's rho between their scores; and their mean scores.",
        "panel", "ragrelay.report.panel_page:agreement_table",
        note="A score of 0.5 or more counts as yes. κ and ρ are computed over answers, the interval of κ over queries.",
    ),
    Table(
        "judge_checks", SECTION, ("judge_checks",), "The judge’s position and length bias",
        "How much a judge's scores change if it sees references or passages in reverse order, if parts of its "
        "question are swapped or if answers are padded, with 95% intervals over queries; and Spearman's rho between "
        "score and length.",
        "judge", "ragrelay.report.display.judge_checks:judge_checks_table",
        note="p-values test whether the mean change is 0 and are adjusted for the number of checks in this table. "
             "“other word” is the share of judgements whose likeliest word differs after the change.",
    ),
    Table(
        "lengths", SECTION, ("lengths",), "Answers: length in tokens and how they end",
        "How long the answers are in tokens and how they end, per cell.",
        "answers", "ragrelay.report.answer_tables:length_table", limited=True,
    ),
    Figure(
        "ends", SECTION, "ragrelay.report.lengths:ends_by_k", ("lengths",), "answers", "How the answers end",
        "How answers end (at the end-of-sequence token or a stop string, cut at max_tokens, or otherwise), as shares "
        "of answers against k.",
        "From the darkest to the palest shade: ended at the end-of-sequence token (or a stop string), cut at "
        "max_tokens, ended otherwise.",
    ),
    Figure(
        "lengths", SECTION, "ragrelay.report.lengths:length_by_k", ("lengths",), "answers", "Length of the answers",
        "Answer length in tokens against k: median and quartiles over queries and seeds, a panel per ordering.",
        "Median and quartiles over queries and seeds.",
    ),
    Figure(
        "position", SECTION, "ragrelay.report.position:position_chart", ("positions",), "answers",
        "Utility and the position of the relevant passage",
        "Mean utility of queries with a relevant passage at each position in the prompt (1 is the first), and of "
        "queries whose context has none, with 95% intervals, in a panel per ordering. A query with several relevant "
        "passages counts at each of their positions.",
        "The positions are those of relevant passages in the prompt (1 is the first); “none” means that the context "
        "has no relevant passage. A query with several relevant passages counts at each of their positions, unless you "
        "choose “exactly one”. Bars are 95% intervals.",
    ),
    Table(
        "positions", SECTION, ("positions",), "Utility by the position of the relevant passage",
        "Mean utility of queries with a relevant passage at each position in the prompt, with 95% intervals.",
    ),
    Figure(
        "spread", SECTION, "ragrelay.report.spread:spread_by_k", ("spread",), "answers", "Spread of P between seeds",
        "Variation in P between seeds: the median and quartiles over queries of the standard deviation of a query's P "
        "over seeds, against k.",
        "The standard deviation of a query’s P over seeds, as median and quartiles over queries. At 0, all seeds gave "
        "equally good answers.",
    ),
    Table(
        "spread", SECTION, ("spread",), "Spread of P between seeds",
        "The quartiles over queries of the standard deviation of a query's P over seeds.",
    ),
    Table(
        "variance", SECTION, ("variance",),
        "Share of P’s variance that is due to seeds, and reliability of a query’s mean over seeds",
        "The share of P's variance between queries, the share due to the language model's sampling (seeds), and the "
        "reliability of a query's mean over its seeds.",
        "answers", "ragrelay.report.statistics_tables:variance_table", limited=True,
    ),
    Figure(
        "cost", SECTION, "ragrelay.report.cost:tokens_by_k", ("cost",), "answers", "Cost of the answers",
        "Tokens in prompts (computed, or served from the prefix cache) and answers, and device time, by retriever and "
        "k: what the answers cost when they were generated, in whichever run.",
        "Tokens are counted over the distinct answers of all orderings and seeds. From the darkest to the palest "
        "shade: prompt tokens computed, prompt tokens served from the prefix cache, answer tokens. Device-seconds "
        "exclude the engine’s start and are divided evenly among its answers, so they differ between retrievers only "
        "in the number of answers.",
    ),
    Table(
        "cost", SECTION, ("cost",), "Cost of generating the answers",
        "Tokens in prompts and answers, and device time, by retriever and k: what the answers cost when they were "
        "generated, in whichever run.",
        "answers", "ragrelay.report.answer_tables:cost_table",
    ),
    Table(
        "cells", SECTION, ("utility",), "Results for each cell and reference set",
        "Mean P, mean utility and mean retrieval measures of each cell.",
        "all", "ragrelay.report.transmission_tables:cell_table", limited=True,
    ),
)  # fmt: skip
"""All outputs, in the page's order."""
