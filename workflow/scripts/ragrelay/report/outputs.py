"""Register a study's figures and tables: rules, drawing, writing, the page and the captions loop over these entries.

To add a figure, add its entry, which names the function that draws it. To add a table, add its analysis, a module with
``COLUMNS`` and ``table`` (analysis/transmission.py), a ResultTable and an entry; tests/e2e/test_additions.py does both.
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
                    "mean P and mean utility of every cell"),
        ResultTable("correlation", f"{ANALYSIS}/correlation.csv", "analyse_transmission",
                    "ragrelay.analysis.correlation:COLUMNS",
                    "correlation over queries of retrieval measures with utility, per cell"),
        ResultTable("significance", f"{ANALYSIS}/significance.csv", "analyse_transmission",
                    "ragrelay.analysis.significance:COLUMNS", "the paired tests behind the marks † and ‡"),
        ResultTable("differences", f"{ANALYSIS}/differences.csv", "analyse_transmission",
                    "ragrelay.analysis.dependent:COLUMNS", "correlations compared with each other"),
        ResultTable("gain", f"{ANALYSIS}/gain.csv", "analyse_transmission", "ragrelay.analysis.gain:COLUMNS",
                    "P against P₀, paired by query, with a verdict per cell"),
        ResultTable("within", f"{ANALYSIS}/within.csv", "analyse_transmission", "ragrelay.analysis.within:COLUMNS",
                    "the contexts that the retrievers give one query: correlation of the measure and P"),
        ResultTable("relay", f"{ANALYSIS}/relay.csv", "analyse_transmission", "ragrelay.analysis.relay:COLUMNS",
                    "relay: how much more the answer improves where the ranking improves more"),
        ResultTable("holes", f"{ANALYSIS}/holes.csv", "analyse_transmission", "ragrelay.analysis.holes:COLUMNS",
                    "holes: the slope of relay where passages without a judgement have other labels"),
        ResultTable("systems", f"{ANALYSIS}/systems.csv", "analyse_transmission", "ragrelay.analysis.systems:COLUMNS",
                    "systems: differences of mean P between retrievers, paired by query, the primary pair apart"),
        ResultTable("equivalence", f"{ANALYSIS}/equivalence.csv", "analyse_transmission",
                    "ragrelay.analysis.equivalence:COLUMNS",
                    "P and the reference retriever's, equivalent within a margin"),
        ResultTable("coupling", f"{ANALYSIS}/coupling.csv", "analyse_transmission",
                    "ragrelay.analysis.coupling:COLUMNS",
                    "dependence of utility on P₀, and the measure's correlation with P given P₀"),
        ResultTable("clusters", f"{ANALYSIS}/clusters.csv", "analyse_transmission",
                    "ragrelay.analysis.cluster_sizes:COLUMNS",
                    "how many clusters the queries come in; empty where they are independent"),
        ResultTable("per_query", "{dataset}/utility/{scorer}/{generator}.parquet", "compute_utility",
                    "ragrelay.analysis.utility:COLUMNS", "P, P₀ and utility of every query in every cell"),
        ResultTable("retrieval", "{dataset}/retrieval/{retriever}.parquet", "measure_retrieval",
                    "ragrelay.base.vocabulary.measures:COLUMNS", "retrieval measures of every query"),
        ResultTable("pooled", "pooled.csv", "pool_samples", "ragrelay.analysis.pooled:COLUMNS",
                    "the study's answers over its generators, by dataset, and over all datasets", "several"),
        ResultTable("variance", f"{ANALYSIS}/variance.csv", "decompose_variance",
                    "ragrelay.analysis.variance:COLUMNS", "share of the variance of P due to seeds"),
        ResultTable("positions", f"{SCORES}/positions.csv", "describe_scores", "ragrelay.analysis.positions:COLUMNS",
                    "mean utility by the position of a relevant passage in the prompt"),
        ResultTable("spread", f"{SCORES}/spread.csv", "describe_scores", "ragrelay.analysis.spread:COLUMNS",
                    "variation of P from seed to seed"),
        ResultTable("lengths", f"{ANSWERS}/lengths.csv", "describe_answers", "ragrelay.analysis.lengths:COLUMNS",
                    "how long the answers are and how they end"),
        ResultTable("cost", f"{ANSWERS}/cost.csv", "describe_answers", "ragrelay.analysis.cost:COLUMNS",
                    "what the answers cost when they were generated"),
        ResultTable("judge_checks", f"{ANALYSIS}/judge_checks.csv", "analyse_judge_checks",
                    "ragrelay.analysis.judge_checks:COLUMNS",
                    "by how much a judge's scores change with the order of what it is shown and with the answer's "
                    "length", "bias_checks"),
        ResultTable("context_use", f"{ANALYSIS}/context_use.csv", "split_utility",
                    "ragrelay.analysis.context_use_split:COLUMNS",
                    "utility by whether the context was good and whether it was used", "context_use"),
    )
}  # fmt: skip
WITH_BASELINE = {
    "quantity": "utility",
    "Quantity": "Utility",
    "quantities": "P and utility",
    "means": "Mean P (or mean utility)",
    "compared": "the mean of P − P₀",
    "both": ", for P and for P₀",
    "without": ", and utility without such references",
    "with_r": "; r is Pearson’s, with its 95% interval",
    "no_zero_shot": "There is no zero-shot row here, because P₀ on unseen references is different for each context. It "
    "is in the table of all cells.",
}
WITHOUT_BASELINE = {
    **dict.fromkeys(WITH_BASELINE, ""),
    "quantity": "P",
    "Quantity": "P",
    "quantities": "P",
    "means": "Mean P",
    "compared": "the mean difference of P between two retrievers",
}
"""Words for titles and notes, of a section with and without zero-shot answers."""
PARTS = {
    "gain": Part(
        "P with passages and without",
        "“Better” and “worse” refer to mean P − P₀ over the same queries, tested at 5% per cell (docs/methods.md).",
    ),
    "systems": Part(
        "Retrievers compared with each other",
        "“Better” and “worse” refer to the mean difference of P over the same queries (docs/methods.md).",
    ),
    "relay": Part(
        "Relay",
        "Of two retrievers, the difference in P of each query whose contexts differ is compared with the difference in "
        "{measure}@k. Whose answers are better on average is another question.",
    ),
    "table": Part("{quantities} by retriever, ordering and k"),
    "relayed": Part("{Quantity} and the ranking of the context"),
    "within": Part(
        "Contexts of one query",
        "Of each query, contexts that different retrievers made are compared with each other: was the answer better "
        "with the better ranked one?",
    ),
    "tests": Part("Tests"),
    "copying": Part(
        "Copying from the context",
        "If a context contains references, P rewards answers that copy them. The unseen references leave out those "
        "that the context shows{both}.",
    ),
    "used": Part(
        "Was the context used?",
        "Context use is the gain in log-probability of the answer, per token, from having the context in the prompt. "
        "Text change is 1 − F1 between the words of the answer and those of the answer made without context. A context "
        "is good if {measure}@k is above 0 and at least its median over all retrievers, and used if context use is at "
        "least its median.",
    ),
    "judge": Part(
        "Checks of the judge",
        "Some answers were judged again with something changed that should not count: the order of what the judge is "
        "shown, or the answer’s length. A score of an unbiased judge stays the same.",
    ),
    "answers": Part("Answers"),
    "all": Part("All cells"),
    "pooled": Part("Each dataset, and all of them"),
}
"""The parts of a section on the page, in their order."""
OUTPUTS: tuple[Output, ...] = (
    Table(
        "pooled", STUDY, ("pooled",), "Over all generators, by dataset", "", "pooled",
        show="ragrelay.report.verdict_tables:pooled_table", files={},
        note="P and P₀ of each query are averaged over the generators; all datasets: random effects.",
    ),
    Figure(
        "mean_quality", SECTION, "ragrelay.report.paper_figures:mean_quality", ("per_query",), "",
        "Mean P against k, for a paper",
        "Mean P of every retriever against k with 95% intervals over queries, where the primary comparison is, and the "
        "level of the answers without context. As wide as one column of a paper, and as two.",
        endings=SIZED,
    ),
    Table(
        "gain", SECTION, ("gain",), "P against P₀ in every cell",
        "The mean of P − P₀ over the same queries with its 95% interval, the tests, the verdict, the ratio of means, "
        "mean and median utility, and the query with the largest share of the sum of absolute utilities.",
        "gain", "ragrelay.report.verdict_tables:gain_table", limited=True, baseline=True,
        note="Interval and verdict are by the test of “p, verdict”; p, t-test is Student’s alone and may be smaller.",
    ),
    Table(
        "coupling", SECTION, ("coupling",), "Dependence of utility on P₀",
        "The correlation over queries of P₀ with utility, partial correlations of the measure with P given P₀, and "
        "mean utility by thirds of P₀.",
        "gain", "ragrelay.report.verdict_tables:coupling_table", limited=True, baseline=True,
    ),
    Table(
        "systems", SECTION, ("systems",), "Systems: differences of mean P between retrievers",
        "Mean difference of P over the same queries, for the primary pair, for all retrievers against the reference "
        "retriever, and for all other pairs, with intervals at the level that keeps 95% for all pairs of a role in a "
        "cell together.",
        "systems", "ragrelay.report.verdict_tables:systems_table", limited=True,
    ),
    Table(
        "equivalence", SECTION, ("equivalence",), "P compared with the reference retriever’s",
        "The difference in P from the reference retriever in the same cell, with the interval that its word is read "
        "off, by Bonferroni's method over the retrievers of a cell, and two one-sided tests within a margin.",
        "systems", "ragrelay.report.verdict_tables:equivalence_table", limited=True,
    ),
    Table(
        "clusters", SECTION, ("clusters",), "Clusters of queries",
        "How many clusters the queries come in, how many equal ones would count as much, and the largest; empty where "
        "queries are independent.",
        "systems", "ragrelay.report.verdict_tables:clusters_table",
    ),
    Figure(
        "differences_by_query", SECTION, "ragrelay.report.paper_figures:differences_by_query",
        ("per_query", "retrieval", "relay"), "relay", "Relay, per query",
        "Of every query, the difference of P between two rankings against that of the measure, where the primary "
        "comparison is, with the slope of relay. As wide as one column of a paper, and as two.",
        "Points are queries whose contexts differ; the line has the slope of relay, per 0.1 of the measure.",
        limited=True, queries=True, endings=SIZED, only_with="rankings",
    ),
    Table(
        "relay", SECTION, ("relay",), "Relay: how much more P improves where the ranking improves more",
        "Slope of the difference of P on that of each measure, of two rankings and of all pairs, both differences less "
        "their mean over the queries whose contexts differ, with 95% intervals over queries; and the same adjusted for "
        "the query's mean measure and P₀. On unseen references of P − P₀.",
        "relay", "ragrelay.report.verdict_tables:relay_table", limited=True,
    ),
    Table(
        "holes", SECTION, ("holes",), "Holes: relay where passages without a judgement have other labels",
        "Slope over all rankings in the primary comparison's ordering, where more than 5% of the passages of the "
        "contexts have no judgement: as it stands (none of them relevant), with all of them relevant, and with the "
        "labels found to give the lowest and the highest slope. The last two are found by a search, which may miss "
        "others farther out. P stays: such a passage is no reference.",
        "relay", "ragrelay.report.verdict_tables:holes_table",
    ),
    Figure(
        "doses", SECTION, "ragrelay.report.paper_figures:doses", ("per_query",), "within",
        "Doses of relevance: mean P against the number of relevant passages",
        "Mean P against the number of relevant passages in the context, over the queries that have every dose, with "
        "95% intervals; a line per k or, where the other passages are of several sorts, per sort. As wide as one "
        "column of a paper, and as two.",
        "A line per k, a panel per ordering; with other passages of several sorts, a line per sort, a panel per k. All "
        "points of a panel are of the same queries. The doses are set by design: here, a difference is caused by them.",
        endings=SIZED, only_with="doses",
    ),
    Table(
        "within", SECTION, ("within",), "Contexts of one query, by all retrievers",
        "Repeated-measures correlation of each measure and P over the contexts of one query, per ordering and k and "
        "over all of them, with 95% intervals over queries; on unseen references of the measure and P − P₀.",
        "within", "ragrelay.report.verdict_tables:within_table", limited=True,
    ),
    Figure(
        "within", SECTION, "ragrelay.report.figures_by_k:within_by_k", ("within",), "within",
        "Contexts of one query, by all retrievers, against k",
        "Repeated-measures correlation of the measure of the context's ranking and P over the contexts of one query, "
        "against k, with bars for 95% intervals.",
        "A panel per ordering, a line per group of retrievers. Bars are 95% intervals over queries; above zero, a "
        "better context of the same query goes with a better answer.",
    ),
    Table(
        "table1", SECTION, ("utility", "significance"), "{means}, as in Table 1 of " + PAPER,
        "Mean utility and mean P by retriever, ordering, k and reference grade. † differs from the reference retriever "
        "(descending, same k and grade); ‡ ascending differs from descending, marked at ascending as in the paper. "
        "Paired t-test over queries, uncorrected p < 0.05. On unseen references, † compares scores on different "
        "reference sets, because each retriever's set excludes the passages of its own contexts.",
        "table", "ragrelay.report.table1:table1",
        {"csv": "ragrelay.report.table1:table1_frame", "unseen.csv": "ragrelay.report.table1:unseen_table1_frame"},
        "ragrelay.report.table1:COLUMNS", macro="first_table",
    ),
    Table(
        "table1", GROUP, ("utility", "significance"), "Table 1 of all datasets",
        "Mean utility and mean P by retriever, ordering, k and reference grade, all datasets of a generator and scorer "
        "in one LaTeX table.",
        files={
            "tex": "ragrelay.report.latex:table1_latex", "p.tex": "ragrelay.report.latex:p_latex",
            "unseen.tex": "ragrelay.report.latex:unseen_table1_latex",
            "p.unseen.tex": "ragrelay.report.latex:unseen_p_latex",
        },
    ),
    Figure(
        "utility", SECTION, "ragrelay.report.figures_by_k:utility_by_k", ("utility",), "table",
        f"Mean utility against k (as in Figure 3 of {PAPER})",
        "Mean utility against k: a line per retriever, a panel per ordering and reference grade, bars for 95% "
        "intervals over queries.",
        "A panel per ordering and reference grade. Bars are 95% intervals over queries; retrievers are shifted "
        "slightly around their k.",
    ),
    Figure(
        "distribution", SECTION, "ragrelay.report.distribution:utility_by_query", ("utility", "per_query"), "table",
        "{Quantity} of each query",
        "The utility of every query at the largest k and the first reference grade, a panel per ordering: points are "
        "queries, boxes the quartiles with the median, lines the 5% and 95% quantiles.",
        "Points are queries; boxes span the quartiles and mark the median, lines extend from the 5% to the 95% "
        "quantile.",
        limited=True, queries=True,
    ),
    Table(
        "correlation", SECTION, ("correlation",),
        "Correlation over queries of the context’s measure with utility, with intervals",
        "Pearson's r, Spearman's rho and Kendall's tau-b over queries of each measure with utility, with 95% "
        "intervals, n and p-values, or the reason why there is none.",
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
        "Each query: the measure of its context's ranking against the utility of the answer, at the largest k and the "
        "first reference grade, with the least-squares line and Pearson's r. Where there are very many queries, an "
        "even sample of them is drawn.",
        "Lines are least-squares fits{with_r}.",
        limited=True, queries=True,
    ),
    Figure(
        "scatter", DEPTH, "ragrelay.report.scatter:utility_by_measure", ("utility", "correlation", "per_query",
        "retrieval"), "", "{measure}@k against utility, per query, at one k " + f"(Figure 4 of {PAPER} has k = 5)",
        "The same at one k of the grid: k = 5, as in the paper, is drawn with the report; any other k when its file is "
        "requested.",
    ),
    Figure(
        "correlation", SECTION, "ragrelay.report.figures_by_k:correlation_by_k", ("correlation",), "relayed",
        f"Correlation with utility against k (as in Figure 5 of {PAPER})",
        "Pearson's r over queries of the measure of the context's ranking and the utility of the answer, against k, "
        "with bands for 95% intervals.",
        "Bands are 95% intervals over queries. A retriever without a line has no correlation; the table gives the "
        "reason.",
        limited=True,
    ),
    Table(
        "differences", SECTION, ("differences",),
        "Correlations compared over the same queries; for a trend, the slope of r over k",
        "Pearson's r compared between retrievers and between descending and ascending order, and its trend over k; "
        "whole queries are left out and resampled. p-values are adjusted within the families that the table names.",
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
        "How often the reference nearest to the answer was in the answer's own context, and utility against "
        "references that were not.",
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
        "How much likelier the context makes the answer, and mean utility by whether the context was good and whether "
        "it was used.",
        "used", "ragrelay.report.context_use_page:used_table",
    ),
    Table(
        "judge_checks", SECTION, ("judge_checks",), "The judge’s bias by position and length",
        "By how much a judge's scores change when references or passages are shown in reverse order, when the parts of "
        "its question are swapped and when answers are padded, with 95% intervals over queries; and Spearman's rho of "
        "score and length.",
        "judge", "ragrelay.report.display.judge_checks:judge_checks_table",
        note="p-values are those of a mean change of 0, adjusted over the checks of this table. Other word: share of "
        "the judgements whose likeliest word is another after the change.",
    ),
    Table(
        "lengths", SECTION, ("lengths",), "Answers: length in tokens, and ends",
        "Length of the answers in tokens, and how they end, per cell.",
        "answers", "ragrelay.report.answer_tables:length_table", limited=True,
    ),
    Figure(
        "ends", SECTION, "ragrelay.report.lengths:ends_by_k", ("lengths",), "answers", "How the answers end",
        "How answers end: at the end-of-sequence token or a stop string, cut at max_tokens, or otherwise. Shares of "
        "answers, against k.",
        "From the full colour to the palest: at the end of the sequence (or a stop string), cut at max_tokens, "
        "otherwise.",
    ),
    Figure(
        "lengths", SECTION, "ragrelay.report.lengths:length_by_k", ("lengths",), "answers", "Length of the answers",
        "Tokens of the answers against k: median and quartiles over queries and seeds, a panel per ordering.",
        "Median and quartiles over queries and seeds.",
    ),
    Figure(
        "position", SECTION, "ragrelay.report.position:position_chart", ("positions",), "answers",
        "Utility and the position of the relevant passage",
        "Mean utility of the queries that had a relevant passage at a position of the prompt (1 is the first), and of "
        "those whose context had none, with 95% intervals; a panel per ordering. A query with several relevant "
        "passages counts at each of their positions.",
        "Queries with a relevant passage at a position of the prompt (1 is the first); “none”: no relevant passage in "
        "the context. A query with several counts at each of their positions, unless you choose exactly one. Bars are "
        "95% intervals.",
    ),
    Table(
        "positions", SECTION, ("positions",), "Utility by the position of the relevant passage",
        "Mean utility of the queries with a relevant passage at each position of the prompt, with 95% intervals.",
    ),
    Figure(
        "spread", SECTION, "ragrelay.report.spread:spread_by_k", ("spread",), "answers", "Spread from seed to seed",
        "Variation of P from seed to seed: the standard deviation of a query's P over seeds, as median and "
        "quartiles over queries, against k.",
        "Standard deviation of a query’s P over seeds: median and quartiles over queries. 0: every seed gave an "
        "equally good answer.",
    ),
    Table(
        "spread", SECTION, ("spread",), "Spread from seed to seed",
        "Quartiles over queries of the standard deviation of a query's P over seeds.",
    ),
    Table(
        "variance", SECTION, ("variance",),
        "Share of the variance of P due to seeds, and reliability of a query’s mean over seeds",
        "The share of the variance of P that is between queries and the share due to the language model's sampling "
        "(seeds), and the reliability of the mean over so many seeds.",
        "answers", "ragrelay.report.statistics_tables:variance_table", limited=True,
    ),
    Figure(
        "cost", SECTION, "ragrelay.report.cost:tokens_by_k", ("cost",), "answers", "Cost of the answers",
        "Tokens of prompts (computed, or served from the prefix cache) and answers by retriever and k, and "
        "device time: what the answers cost when they were generated, in whichever run.",
        "Tokens of the distinct answers of all orderings and seeds. From the full colour to the palest: prompt tokens "
        "computed, prompt tokens served from the prefix cache, answer tokens. Device-seconds are an "
        "engine’s, without its start, spread evenly over its answers: retrievers differ by their answers alone.",
    ),
    Table(
        "cost", SECTION, ("cost",), "Cost of the answers when they were generated",
        "Tokens of prompts and answers and device time by retriever and k: what the answers cost when they were "
        "generated, in whichever run.",
        "answers", "ragrelay.report.answer_tables:cost_table",
    ),
    Table(
        "cells", SECTION, ("utility",), "Every cell, with each set of references",
        "Mean P, mean utility and mean retrieval measures of every cell.",
        "all", "ragrelay.report.transmission_tables:cell_table", limited=True,
    ),
)  # fmt: skip
"""In the order of the page."""
