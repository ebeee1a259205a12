"""Agreement of annotation sources with people's labels, and people's measures over all queries with a judge's help.

Input: LABELS, labels from files, QRELS, UTILITY.
Output: agreement, confusion and powered tables below LABELS.
"""

# What the comparison with people's labels goes by; the threshold is the page's.
COMPARED_WITH_PEOPLE = {
    "patterns": LABEL_JOBS,
    "annotations": source_definitions(),
    "names": ANNOTATIONS,
    "agreement": {
        key: value
        for key, value in STUDY.config["agreement"].items()
        if key != "least_kappa"
    },
    "resamples": STUDY.config["analysis"]["resamples"],
    "seed": STUDY.config["analysis"]["seed"],
}


rule measure_agreement:
    input:
        unpack(made_labels),
        labels=f"{LABELS}/labels.parquet",
        values=f"{LABELS}/values.parquet",
        utility=UTILITY,
        qrels=QRELS,
    output:
        agreement=f"{LABELS}/agreement.csv",
        confusion=f"{LABELS}/confusion.csv",
        powered=f"{LABELS}/powered.csv",
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
