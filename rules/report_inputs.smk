"""What the rules of the report share: its sections, the outputs of each, and patterns of what they are made from."""

SECTIONS = [
    {
        "dataset": d,
        "generator": g,
        "scorer": s,
        "utility": study.scorer(s)["utility"],
        "references": list(study.reference_sets(d, s)),
        "primary": study.primary(d, s),
    }
    for d in study.grid["datasets"]
    for g in study.grid["generators"]
    for s in study.grid["scorers"]
]
# The primary comparison of each dataset and scorer.
PRIMARIES = [
    {key: section[key] for key in ("dataset", "scorer", "primary")}
    for section in SECTIONS
]
RECEIPT_KEYS = [
    {"dataset": d, "generator": g, "retriever": r, "shard": str(shard)}
    for d in study.grid["datasets"]
    for g in study.asked_generators()
    for r in ["zeroshot", *study.grid["retrievers"]]
    for shard in study.shards(d)
]
ANSWER_KEYS = [
    {"dataset": d, "generator": g, "retriever": r}
    for d in study.grid["datasets"]
    for g in study.grid["generators"]
    for r in ["zeroshot", *study.grid["retrievers"]]
]
# Retrievers that bring a run file along.
RUN_KEYS = [
    {"dataset": d, "retriever": r}
    for d in study.grid["datasets"]
    for r in study.needed_retrievers()
    if RETRIEVER_KINDS.of(study.retriever(r)).files(d)
]
# Scores by a judge.
JUDGED_KEYS = [
    {"dataset": d, "scorer": s, "generator": g, "retriever": r}
    for d in study.grid["datasets"]
    for s in study.judged_by
    for g in study.grid["generators"]
    for r in ["zeroshot", *study.grid["retrievers"]]
]
# Labels from files.
FILED_KEYS = [
    {"dataset": d, "by": job[0], "source": name}
    for d in study.grid["datasets"]
    for name, source in study.source_parts.items()
    if (job := source.job(name, "", "")) and job[0] in (BY_FILE, BY_PAGES)
] + [
    {"dataset": d, "by": BY_ANSWERS, "source": name}
    for d in study.grid["datasets"]
    for name in study.passage_answerers
    if BY_GENERATOR
]
# Counts of what was left out.
LEFT_OUT = {
    "of_collection": files.left_out_of_collection,
    "of_references": files.left_out_of_references,
    "of_runs": files.run_doubts,
    "of_contexts": files.left_out_of_contexts,
    "of_answers": files.left_out_of_answers,
    "of_nuggets": files.left_out_of_nuggets,
    "of_scores": files.left_out_of_scores,
    "of_labels": files.left_out_of_labels,
}
# How answers end, among others.
LENGTHS = files.made_by("describe_answers")["lengths"]
# Counts that not every dataset, retriever and scorer has.
OF_FILES = ("of_runs", "of_answers", "of_nuggets", "of_scores", "of_labels")
GRID = study.grid | {
    "references": {d: list(study.grades(d)) for d in study.grid["datasets"]},
    "kinds": {n: study.retriever(n)["kind"] for n in study.grid["retrievers"]},
}
# Of each scorer with annotation sources, over what its tables go.
ANNOTATED = [{"scorer": s} for s in study.grid["scorers"] if ANNOTATIONS]
LABELLED = [
    {"dataset": d, "generator": g}
    for d in study.grid["datasets"]
    for g in study.grid["generators"]
]

# Data whose hashes are in the provenance.
OF_DATA = [
    *(
        path
        for pattern in (files.queries, files.qrels, files.run)
        for path in study.grid_paths(pattern)
    ),
    *index_receipts(),
    *(study.grid_paths(files.labels) if ANNOTATIONS else []),
]

# What an engine's labels cost.
COSTED = [
    one
    for one in LABELLED
    if BY_GENERATOR and one["generator"] in study.asked_generators()
]

# Tables of labels besides those of each scorer: their cost, and the checks of their judges.
OF_LABELS = {
    "label_cost": files.tables["label_cost"].each(COSTED),
    "label_checks": [
        path
        for name, judges in study.checked_sources.items()
        for table in files.made_by("analyse_passage_checks").values()
        for path in study.grid_paths(table, source=[name], judge=judges)
    ],
}

# What the page says of judges.
ON_JUDGES = {"judges": study.judged_by, "trust": trust_in_judges()}

# Paths of the tables that a section's outputs are made from.
SECTION_PATHS = {
    name: files.tables[name]
    for name in dict.fromkeys(need for o in outputs_of("section") for need in o.needs)
}
MEASURED = {"retrieval": SECTION_PATHS.pop("retrieval")}


def sections_with(sources):
    """The sections that have all these tables: only those of some scorers have checks of a judge."""
    checked = set(sources) & set(files.made_by("analyse_judge_checks"))
    return [s for s in SECTIONS if not checked or s["scorer"] in study.checked_scorers]


SECTION_FILES = {n: p.each(sections_with([n])) for n, p in SECTION_PATHS.items()}
FIGURES = outputs_of("section", "figure")
FIGURE_SOURCES = [
    n for n in SECTION_PATHS if any(n in figure.needs for figure in FIGURES)
]
FIGURES_AT = outputs_of("depth")
# The paper's k for these, where the others are of a larger one.
AT_DEPTH = [
    {**section, "depth": "k5"}
    for section in SECTIONS
    if 5 in study.grid["k"] and max(study.grid["k"]) > 5
]
# What all jobs that draw figures have.
DRAWN = {
    "section": lambda wildcards: next(
        s for s in SECTIONS if all(s[k] == wildcards[k] for k in KEYS["section"])
    ),
    "patterns": {n: SECTION_PATHS[n] for n in FIGURE_SOURCES} | MEASURED,
}
TABLES = {
    "section": outputs_of("section", "table"),
    "group": outputs_of("group", "table"),
}
SECTION_TABLES = [
    path
    for table in TABLES["section"]
    for path in report_files([table], sections_with(table.needs))
]
GROUPS = list({(s["generator"], s["scorer"]): s for s in SECTIONS}.values())
# Tables compared with published ones.
REPRODUCED = {
    name: files.tables[name]
    for output in outputs_of("reproduction")
    for name in output.needs
}
# What the page shows besides the sections, of one file each.
BESIDES = {
    **(ACU_SHOWN if ACU else {}),
    **REPRODUCED,
    **(files.made_by("pool_samples") if SEVERAL else {}),
}
PAGE = ROOT / "workflow" / "report"
PAGE_PARTS = [
    os.path.relpath(path)
    for ending in ("j2", "css", "js")
    for path in sorted(PAGE.glob(f"*.{ending}"))
]
# Patterns of what the page is made from, and of what the explorer shows.
ON_PAGE = {
    **SECTION_PATHS,
    **MEASURED,
    **files.annotation_tables,
    **(ACU_PATTERNS if ACU else {}),
    "explorer": files.explorer,
}
EXPLORED = {
    "prompts": files.prompts,
    "answers": files.answers,
    "scores": files.scores,
    "retrieval": files.measures,
}
# Tables of predictions, by source.
PREDICTED = files.made_by("evaluate_predictions") | files.made_by(
    "transfer_predictions"
)
PREDICTED_TABLES = {n: pattern.each(SECTIONS) for n, pattern in PREDICTED.items()}
# Prompts of the primary comparisons' cells, for the docnos of their contexts.
COMPARED_PROMPTS = [
    {
        "dataset": section["dataset"],
        "template": study.template_of(section["generator"]),
        "retriever": r,
        **{name: section["primary"][name] for name in ("ordering", "k")},
    }
    for section in SECTIONS
    for r in study.grid["retrievers"]
    if section["primary"]
]
# What both the tables and the page are of.
REPORTED = {
    "study": study.name,
    "sections": SECTIONS,
    "grid": GRID,
    "reference_retriever": study.config["analysis"]["reference_retriever"],
}
