"""Register the report's tables and figures on annotation sources, for each scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

LABELS = "{dataset}/annotations/labels/{scorer}/{generator}"
ANNOTATIONS = Scope("annotations", ("scorer",), "draw_annotations")
RESULT_TABLES = (
    ResultTable("label_correlation", f"{LABELS}/correlation.csv", "correlate_labels",
                "ragrelay.annexes.labels.correlation:COLUMNS",
                "correlation between each source's measures and the quality of end-to-end answers", "annotations"),
    ResultTable("label_leads", f"{LABELS}/leads.csv", "correlate_labels", "ragrelay.annexes.labels.leads:COLUMNS",
                "the best source and measure for each retriever, k, reference set, quantity and coefficient, compared "
                "with the best of any other source", "annotations"),
    ResultTable("label_within", f"{LABELS}/within.csv", "correlate_labels",
                "ragrelay.annexes.labels.within_queries:COLUMNS",
                "correlation within queries between P and each source's measures, over retrievers",
                "annotations"),
    ResultTable("label_choices", f"{LABELS}/choices.csv", "correlate_labels", "ragrelay.annexes.labels.choices:COLUMNS",
                "P and utility with the context chosen by each source's labels, compared with a random choice",
                "annotations"),
    ResultTable("label_agreement", f"{LABELS}/agreement.csv", "measure_agreement",
                "ragrelay.annexes.labels.agreement:COLUMNS", "agreement between each source's labels and human labels",
                "annotations"),
    ResultTable("label_confusion", f"{LABELS}/confusion.csv", "measure_agreement",
                "ragrelay.annexes.labels.agreement:CONFUSION_COLUMNS", "counts of query–passage pairs by human label "
                    "and source label",
                "annotations"),
    ResultTable("label_powered", f"{LABELS}/powered.csv", "measure_agreement",
                "ragrelay.annexes.labels.powered:COLUMNS",
                "retrieval measures based on human labels, estimated for all queries from human labels for a random "
                "sample of queries and a source's labels for all queries",
                "annotations"),
    ResultTable("label_checks", "{dataset}/annotations/checks/{source}/{judge}/judge_checks.csv",
                "analyse_passage_checks", "ragrelay.analysis.judge_checks:PASSAGE_COLUMNS",
                "how much a judge's labels depend on the order of the judge's input and on the passage's length",
                "annotations.bias_checks"),
    ResultTable("label_cost", "{dataset}/annotations/cost/{generator}.csv", "describe_label_cost",
                "ragrelay.annexes.labels.cost:COLUMNS",
                "cost of the generator's labels, compared with the cost of end-to-end answers", "annotations"),
    ResultTable("label_cost_by_k", "{dataset}/annotations/cost_by_k/{generator}.csv", "describe_label_cost",
                "ragrelay.annexes.labels.cost:BY_K_COLUMNS",
                "cost of labels and of end-to-end answers, by number of passages", "annotations"),
)  # fmt: skip
PARTS = {
    "labels": Part("Labels and answers"),
    "trust": Part("Agreement with human labels"),
    "cost": Part("Cost of the labels"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "annotations", ANNOTATIONS, ("label_correlation", "label_leads"),
        "Correlation over queries between measures from each source’s labels and {scorer}’s P or utility",
        "Kendall's tau, Spearman's rho and Pearson's r over queries between measures from each source's labels and P "
        "or utility, with 95% intervals, n and p-values. The best row of each column is marked, and so is a "
        "significant lead over all other sources.",
        "labels", "ragrelay.annexes.labels.page:annotation_table",
        columns="ragrelay.annexes.labels.study_tables:TABLE_COLUMNS",
        note="• marks the best row of a column; ★ marks a best row with a significant lead over the best row of every "
             "other source (paired bootstrap, Holm over dataset × retriever, p < 0.05). Ideal DCG and recall count "
             "only labelled passages.",
        limited=True,
    ),
    Table(
        "annotation_leads", ANNOTATIONS, ("label_leads", "label_correlation"),
        "Lead of the best annotation source",
        "Each column's best source and measure compared with the best of any other source: the lead, its 95% interval, "
        "and whether it is significant.",
        columns="ragrelay.annexes.labels.study_tables:LEADS_COLUMNS",
    ),
    Table(
        "annotation_within", ANNOTATIONS, ("label_within",),
        "Correlation within queries between measures from each source’s labels and P, over retrievers",
        "Within-query (repeated-measures) correlation, over retrievers, between P and the measures computed from each "
        "source's labels, with 95% intervals and p-values. It is undefined for labels that are equal for all of a "
        "query's passages.",
        "labels", "ragrelay.annexes.labels.page:label_within_table",
        note="Both variables are centred within each query and k, so a query’s difficulty and P₀ cancel out. The "
             "ordering is descending.",
        limited=True,
    ),
    Table(
        "annotation_choices", ANNOTATIONS, ("label_choices",),
        "Chosen by labels: P and utility with the context that each source ranks first, compared with a random choice "
        "among the query’s contexts",
        "For each query, a source chooses the retriever's context with the highest measure by its labels. The table "
        "compares mean P and utility with the chosen contexts and with all of the query's contexts, with 95% "
        "intervals, p-values and, for P, verdicts.",
        "labels", "ragrelay.annexes.labels.page:choice_table",
        columns="ragrelay.annexes.labels.choices:CHOICES_COLUMNS",
        note="If a query’s passages all have the same label, the choice is random, and its mean is the null. With "
             "unseen references, P − P₀ replaces P, because contexts have different reference sets. The ordering is "
             "descending.",
        limited=True,
    ),
    Table(
        "annotation_agreement", ANNOTATIONS, ("label_agreement",),
        "Agreement between each source’s labels and human labels, on passages that have both",
        "Cohen's kappa between each source's labels and human labels (relevant or not, and graded), and Kendall's tau "
        "over a query's passages, with 95% intervals over queries; also Kendall's tau between retrievers' means, with "
        "an interval over retrievers.",
        "trust", "ragrelay.annexes.labels.trust_page:agreement_table",
        note="The passages come from the top of the retrievers’ rankings and aren’t a sample of the corpus. The "
             "interval for τ between retrievers applies to these queries and to retrievers like these.",
        limited=True,
    ),
    Table(
        "annotation_confusion", ANNOTATIONS, ("label_confusion",),
        "Query–passage pairs by human label and source label",
        "Counts of query–passage pairs by human label and source label.",
        "trust", "ragrelay.annexes.labels.trust_page:confusion_table",
        note="Labels from 0 to 1 count as 1 if they are at least 0.5; effects count as 1 if they are above 0.",
    ),
    Table(
        "annotation_powered", ANNOTATIONS, ("label_powered",),
        "Measures based on human labels, estimated for all queries from a sample with human labels, with and without "
        "the source’s labels for all queries",
        "Power-tuned prediction-powered estimates (PPI++) of retrieval measures by human labels over all queries: "
        "means and r, with 95% intervals, next to estimates from human labels alone.",
        "trust", "ragrelay.annexes.labels.trust_page:powered_page_table",
        note="According to the configuration, the queries with human labels are a random sample of all queries.",
        limited=True,
    ),
    Figure(
        "annotations", ANNOTATIONS, "ragrelay.annexes.labels.page:correlation_by_depth",
        ("label_correlation", "label_leads"), "labels",
        "Correlation with P or utility against k, by measure",
        "Correlation over queries between measures from each source's labels and the end-to-end answers' P and "
        "utility, against k, by dataset, retriever and generator, with 95% intervals.",
        "There is one panel per dataset, retriever and generator. Bands are 95% intervals over queries. k = 1 is left "
        "out, because an eRAG label then equals P.",
    ),
    Table(
        "annotation_best", ANNOTATIONS, ("label_correlation", "label_leads"),
        "Each source’s best measure at the largest k, shown for every k",
        "Correlation with P and with utility over queries, at every k, for each source's best measure at the largest "
        "k. The figures annotation_best and annotation_readers show these data.",
        files={"csv": "ragrelay.annexes.labels.paper_figures:best_measures"},
        columns="ragrelay.annexes.labels.paper_figures:BEST_COLUMNS",
    ),
    Figure(
        "annotation_best", ANNOTATIONS, "ragrelay.annexes.labels.paper_figures:best_by_k",
        ("label_correlation", "label_leads"), "labels",
        "Each source’s best measure against k (Figure 1 of Salemi and Zamani, SIGIR 2024)",
        "Correlation over queries between each source's best measure and the end-to-end answers' P and utility, "
        "against k, by dataset, retriever and generator, with 95% intervals.",
        "As in the paper, each source has one measure for all k: the measure that correlates best with the answers at "
        "the largest k. It is chosen on the same queries, which favours sources with many measures.",
    ),
    Figure(
        "annotation_readers", ANNOTATIONS, "ragrelay.annexes.labels.paper_figures:readers_by_k",
        ("label_correlation", "label_leads"), "labels",
        "eRAG’s best measure, by generator (Figures 2 and 3 of Salemi and Zamani, SIGIR 2024)",
        "Correlation over queries between eRAG's best measure and the end-to-end answers' P and utility, against k. "
        "There is one line per generator; generators can be, for example, two sizes of one model.",
        "Each generator’s answers are compared with labels from its own answers to single passages, unless the source "
        "names a generator. The measure is chosen as in the figure above.",
    ),
    Table(
        "annotation_checks", ANNOTATIONS, ("label_checks",), "Bias of passage judges by position and length", "",
        "trust", "ragrelay.annexes.labels.trust_page:checks_page_table", {},
        note="A score is the probability of “yes”, or the expected grade. The p-values test whether the mean change is "
             "0; they are adjusted over all checks of a judge. “Other word” is the share of judgements whose likeliest "
             "word differs after the change.",
    ),
    Table(
        "annotation_cost", ANNOTATIONS, ("label_cost",),
        "Cost of labels that the generator derives from single passages, compared with end-to-end answers", "", "cost",
        "ragrelay.annexes.labels.page:label_cost_table", {},
    ),
)  # fmt: skip
"""The tables and figures on annotation sources, in the order in which the page shows them."""
