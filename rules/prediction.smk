"""Prediction: utility and answer quality from what is known without judgements, for the target predict.

Input: QUERIES, RUN, CANDIDATES, ANSWERS, INDEX; UTILITY, MEASURES.
Output: TERMS, PREDICTIONS, and the tables that ragrelay/prediction/outputs.py lists by rule.
"""


rule count_terms:
    input:
        passages=lambda wildcards: passage_files(wildcards.dataset),
        fetched=lambda wildcards: fetched("datasets", wildcards.dataset),
        queries=QUERIES,
    output:
        TERMS,
    log:
        "<logs>/count_terms/{dataset}.log",
    benchmark:
        "<benchmarks>/count_terms/{dataset}.tsv"
    conda:
        "../envs/prediction.yaml"
    resources:
        **machine("index"),
    params:
        dataset=dataset_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("count_terms.py", dataset_module),
    script:
        "../workflow/scripts/count_terms.py"


rule predict_utility:
    input:
        queries=QUERIES,
        run=RUN,
        contexts=CANDIDATES,
        terms=TERMS,
        index=vector_index,
        fetched=fetched_for_vectors,
        answers=filled(ANSWERS, CELLS) + filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
        uses=[f"{CONTEXT_USE}.parquet"] if STUDY.config["context_use"] else [],
    output:
        PREDICTIONS,
    log:
        "<logs>/predict_utility/{dataset}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/predict_utility/{dataset}/{generator}/{retriever}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        **PREDICTING,
        dense=vector_definition,
        dataset=dataset_of,
        fingerprint=fingerprint_of,
        code=code_of("predict_utility.py", dataset_module, *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/predict_utility.py"


rule evaluate_predictions:
    input:
        predictions=filled(PREDICTIONS, EACH_RETRIEVER),
        utility=UTILITY,
        retrieval=filled(MEASURES, EACH_RETRIEVER),
    output:
        **made_by("evaluate_predictions"),
    log:
        "<logs>/evaluate_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/evaluate_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        patterns={"predictions": PREDICTIONS, "retrieval": MEASURES},
        kinds={name: STUDY.retriever(name)["kind"] for name in RETRIEVERS},
        rankings=[name for name in RETRIEVERS if not judged(name)],
        measure=STUDY.grid["measures"][0],
        resamples=STUDY.config["analysis"]["resamples"],
        seed=STUDY.config["analysis"]["seed"],
        code=code_of("evaluate_predictions.py", *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/evaluate_predictions.py"
