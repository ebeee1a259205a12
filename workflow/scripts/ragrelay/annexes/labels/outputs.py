"""Register the report's tables and figures on annotation sources, per scorer."""

from ragrelay.report.display.outputs import Figure, Output, Part, ResultTable, Scope, Table

LABELS = "{dataset}/annotations/labels/{scorer}/{generator}"
ANNOTATIONS = Scope("annotations", ("scorer",), "draw_annotations")
RESULT_TABLES = (
    ResultTable("label_correlation", f"{LABELS}/correlation.csv", "correlate_labels",
                "ragrelay.annexes.labels.correlation:COLUMNS",
                "how measures from each source's labels follow the end-to-end answers", "annotations"),
    ResultTable("label_leads", f"{LABELS}/leads.csv", "correlate_labels", "ragrelay.annexes.labels.leads:COLUMNS",
                "the best source and measure of every column against the best of any other source", "annotations"),
    ResultTable("label_within", f"{LABELS}/within.csv", "correlate_labels",
                "ragrelay.annexes.labels.within_queries:COLUMNS",
                "how measures from each source's labels follow P over the retrievers of one query", "annotations"),
    ResultTable("label_choices", f"{LABELS}/choices.csv", "correlate_labels", "ragrelay.annexes.labels.choices:COLUMNS",
                "P and utility with the context that each source's labels choose, against any", "annotations"),
    ResultTable("label_agreement", f"{LABELS}/agreement.csv", "measure_agreement",
                "ragrelay.annexes.labels.agreement:COLUMNS", "how each source's labels agree with people's",
                "annotations"),
    ResultTable("label_confusion", f"{LABELS}/confusion.csv", "measure_agreement",
                "ragrelay.annexes.labels.agreement:CONFUSION_COLUMNS", "pairs by people's label and the source's",
                "annotations"),
    ResultTable("label_powered", f"{LABELS}/powered.csv", "measure_agreement",
                "ragrelay.annexes.labels.powered:COLUMNS",
                "people's measures over all queries, from people's labels of a random sample and a source's of all",
                "annotations"),
    ResultTable("label_checks", "{dataset}/annotations/checks/{source}/{judge}/judge_checks.csv",
                "analyse_passage_checks", "ragrelay.analysis.judge_checks:PASSAGE_COLUMNS",
                "by how much a judge's labels change with the order of what it is shown and with the passage's length",
                "annotations.bias_checks"),
    ResultTable("label_cost", "{dataset}/annotations/cost/{generator}.csv", "describe_label_cost",
                "ragrelay.annexes.labels.cost:COLUMNS",
                "what labels by the generator cost, compared with end-to-end answers", "annotations"),
    ResultTable("label_cost_by_k", "{dataset}/annotations/cost_by_k/{generator}.csv", "describe_label_cost",
                "ragrelay.annexes.labels.cost:BY_K_COLUMNS",
                "the same by number of passages, with the ratio of both", "annotations"),
)  # fmt: skip
PARTS = {
    "labels": Part("Labels and answers"),
    "trust": Part("Agreement with people’s labels"),
    "cost": Part("What the labels cost"),
}
OUTPUTS: tuple[Output, ...] = (
    Table(
        "annotations", ANNOTATIONS, ("label_correlation", "label_leads"),
        "Correlation over queries of measures from each source’s labels with P and with utility, scored by {scorer}",
        "Kendall's tau, Spearman's rho and Pearson's r over queries of measures from each source's labels with P and "
        "with utility, with 95% intervals, n and p-values; the best of each column, and whether its lead over the "
        "other sources is significant.",
        "labels", "ragrelay.annexes.labels.page:annotation_table",
        columns="ragrelay.annexes.labels.study_tables:TABLE_COLUMNS",
        note="• the best of its column; ★ and its lead over the best row of any other source is significant (paired "
        "bootstrap, Holm over dataset × retriever, p < 0.05). Ideal DCG and recall know the labelled passages alone.",
        limited=True,
    ),
    Table(
        "annotation_leads", ANNOTATIONS, ("label_leads", "label_correlation"), "Leads of annotation sources",
        "The best source and measure of every column against the best of any other source: the lead, its 95% "
        "interval, and whether it is significant.",
        columns="ragrelay.annexes.labels.study_tables:LEADS_COLUMNS",
    ),
    Table(
        "annotation_within", ANNOTATIONS, ("label_within",),
        "Within queries: measures from each source’s labels and P over the retrievers of one query",
        "Repeated-measures correlation of measures from each source's labels with P over the retrievers of one query, "
        "with 95% intervals and p-values; labels that are the same for all passages of a query have none.",
        "labels", "ragrelay.annexes.labels.page:label_within_table",
        note="Both columns are centred per query and k, so that a query’s difficulty and P₀ count for nothing; the "
        "ordering is descending.",
        limited=True,
    ),
    Table(
        "annotation_choices", ANNOTATIONS, ("label_choices",),
        "Chosen by labels: P and utility with the context that each source puts first, against any of the query’s",
        "Mean P and utility with the context, of those that a query's retrievers made, whose measure from a source's "
        "labels is highest, against the mean over all of them, with 95% intervals, p-values and, for P, verdicts.",
        "labels", "ragrelay.annexes.labels.page:choice_table",
        columns="ragrelay.annexes.labels.choices:CHOICES_COLUMNS",
        note="Labels that are the same for all passages of a query choose any: their mean is the null. P less P₀ on "
        "unseen references, where each context has its own set; the ordering is descending.",
        limited=True,
    ),
    Table(
        "annotation_agreement", ANNOTATIONS, ("label_agreement",),
        "Agreement of each source’s labels with people’s, where both are",
        "Cohen's kappa of each source's labels with people's, of relevant or not and of the grades, and Kendall's tau "
        "of a query's passages, with 95% intervals over queries, and of retrievers' means, over retrievers.",
        "trust", "ragrelay.annexes.labels.trust_page:agreement_table",
        note="The passages are those of the rankings: the tops of the retrievers’ lists, not a sample of the corpus. "
        "The interval of τ of retrievers is of τ at these queries, over retrievers like these.",
        limited=True,
    ),
    Table(
        "annotation_confusion", ANNOTATIONS, ("label_confusion",), "Pairs of query and passage by both labels",
        "Counts of pairs of query and passage by people's label and the source's.",
        "trust", "ragrelay.annexes.labels.trust_page:confusion_table",
        note="Labels from 0 to 1 count as 1 from 0.5 on, effects above 0.",
    ),
    Table(
        "annotation_powered", ANNOTATIONS, ("label_powered",),
        "People’s measures over all queries: people’s labels of a sample, with and without the source’s labels of all",
        "Prediction-powered estimates, power-tuned (PPI++), of retrieval measures by people's labels over all queries: "
        "means and r, with 95% intervals, next to those from people's labels alone.",
        "trust", "ragrelay.annexes.labels.trust_page:powered_page_table",
        note="The queries with people’s labels are, as the configuration states, a random sample of all.",
        limited=True,
    ),
    Figure(
        "annotations", ANNOTATIONS, "ragrelay.annexes.labels.page:correlation_by_depth",
        ("label_correlation", "label_leads"), "labels",
        "Correlation against the passages in the context, by measure",
        "Correlation over queries of measures from each source's labels with the end-to-end answers' P and utility, "
        "against k, by dataset, retriever and generator, with 95% intervals.",
        "A panel per dataset, retriever and generator; bands are 95% intervals over queries. k = 1 is left out: an "
        "eRAG label is P itself there.",
    ),
    Table(
        "annotation_best", ANNOTATIONS, ("label_correlation", "label_leads"),
        "Each source’s best measure at the largest k, at every k",
        "Correlation over queries with P and with utility, at every k, of the measure of each source that is its best "
        "at the largest k: the data of the figures annotation_best and annotation_readers.",
        files={"csv": "ragrelay.annexes.labels.paper_figures:best_measures"},
        columns="ragrelay.annexes.labels.paper_figures:BEST_COLUMNS",
    ),
    Figure(
        "annotation_best", ANNOTATIONS, "ragrelay.annexes.labels.paper_figures:best_by_k",
        ("label_correlation", "label_leads"), "labels",
        "Each source’s best measure against the passages in the context (Figure 1 of Salemi and Zamani, SIGIR 2024)",
        "Correlation over queries of each source's best measure with the end-to-end answers' P and utility, against "
        "k, by dataset, retriever and generator, with 95% intervals.",
        "As in the paper, a source has one measure at every k: the one that follows the answers best at the largest "
        "k. The choice is made on the same queries, which favours sources with many measures.",
    ),
    Figure(
        "annotation_readers", ANNOTATIONS, "ragrelay.annexes.labels.paper_figures:readers_by_k",
        ("label_correlation", "label_leads"), "labels",
        "eRAG’s labels with each generator (Figures 2 and 3 of Salemi and Zamani, SIGIR 2024)",
        "Correlation over queries of eRAG's best measure with the end-to-end answers' P and utility, against k, a line "
        "per generator: two sizes of a model, or two ways to read passages.",
        "Each generator’s answers are compared with labels by its own answers to single passages, unless the source "
        "names one generator. The measure is chosen as in the figure before.",
    ),
    Table(
        "annotation_checks", ANNOTATIONS, ("label_checks",), "Bias of judges of passages by position and length", "",
        "trust", "ragrelay.annexes.labels.trust_page:checks_page_table", {},
        note="Score: probability of yes, or the expected grade. p-values are those of a mean change of 0, adjusted "
        "over the checks of one judge. Other word: share of the judgements whose likeliest word is another after the "
        "change.",
    ),
    Table(
        "annotation_cost", ANNOTATIONS, ("label_cost",),
        "Cost of labels by the generator, made from each passage alone, compared with answers end to end", "", "cost",
        "ragrelay.annexes.labels.page:label_cost_table", {},
    ),
)  # fmt: skip
"""In the order of the page."""
