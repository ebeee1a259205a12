"""Agreement of annotation sources with people's labels, and people's measures over all queries with a judge's help.

Input: labels, labels from files, qrels, utility.
Output: agreement, confusion and powered tables below labels.
"""

# What the comparison with people's labels goes by; the threshold is the page's.
COMPARED_WITH_PEOPLE = {
    "patterns": LABEL_JOBS,
    "annotations": study.source_definitions,
    "names": ANNOTATIONS,
    "agreement": {
        key: value
        for key, value in study.config["agreement"].items()
        if key != "least_kappa"
    },
    "resamples": study.config["analysis"]["resamples"],
    "seed": study.config["analysis"]["seed"],
}


rule measure_agreement:
    """Compare labels with people's, and combine people's with a judge's (prediction-powered)."""
    input:
        unpack(made_labels),
        labels=files.labels,
        values=files.label_values,
        utility=files.utility,
        qrels=files.qrels,
    output:
        agreement=files.tables["label_agreement"],
        confusion=files.tables["label_confusion"],
        powered=files.tables["label_powered"],
    log:
        "<logs>/measure_agreement/{dataset}/{scorer}/{generator}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        **COMPARED_WITH_PEOPLE,
        lowest_grade=lowest_grade_of,
        code=code_of("measure_agreement.py", *source_modules()),
    script:
        "../workflow/scripts/measure_agreement.py"
