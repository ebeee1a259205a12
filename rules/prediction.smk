"""Prediction: utility and answer quality from what is known without judgements, for the target predict.

Input: QUERIES, RUN, CANDIDATES, ANSWERS, INDEX, CONTEXT_USE; UTILITY, MEASURES.
Output: TERMS, CONTEXT_LIKELIHOODS, RERANKED, LEFT_OUT_OF_QUALITY, AGREEMENT, PREDICTIONS, PREDICTION_SARE, and the tables that ragrelay/prediction/outputs.py lists by rule.
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


rule score_contexts:
    input:
        fetched=fetched_for_generator,
        queries=QUERIES,
        contexts=CANDIDATES,
    output:
        receipt=f"{CONTEXT_LIKELIHOODS}.json",
        asked=f"{CONTEXT_LIKELIHOODS}.asked.parquet",
    log:
        "<logs>/score_contexts/{dataset}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_contexts/{dataset}/{generator}/{retriever}.tsv"
    conda:
        "../envs/generation.yaml"
    threads: threads_of
    resources:
        **ENGINE,
    params:
        ks=sorted(STUDY.grid["k"]),
        generator=generator_of,
        fingerprint=texts_likelihoods_of,
        cache_dir=STUDY.cache_dir,
        code=questions_of("score_contexts.py"),
    script:
        "../workflow/scripts/score_contexts.py"


rule compute_context_likelihoods:
    input:
        receipt=f"{CONTEXT_LIKELIHOODS}.json",
        asked=f"{CONTEXT_LIKELIHOODS}.asked.parquet",
    output:
        f"{CONTEXT_LIKELIHOODS}.parquet",
    log:
        "<logs>/compute_context_likelihoods/{dataset}/{generator}/{retriever}.log",
    conda:
        "../envs/generation.yaml"
    params:
        fingerprint=texts_likelihoods_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("compute_context_likelihoods.py"),
    script:
        "../workflow/scripts/compute_context_likelihoods.py"


rule rerank_contexts:
    input:
        fetched=lambda wildcards: fetched("retrievers", wildcards.reranker),
        queries=QUERIES,
        contexts=CANDIDATES,
    output:
        RERANKED,
    log:
        "<logs>/rerank_contexts/{dataset}/{reranker}/{retriever}.log",
    benchmark:
        "<benchmarks>/rerank_contexts/{dataset}/{reranker}/{retriever}.tsv"
    conda:
        "../envs/retrieval.yaml"
    threads: cores("retrieval", 2)
    resources:
        **machine("retrieval"),
    params:
        k=max(STUDY.grid["k"]),
        definition=lambda wildcards: STUDY.retriever(wildcards.reranker),
        code=code_of("rerank_contexts.py"),
    script:
        "../workflow/scripts/rerank_contexts.py"


rule check_quality:
    input:
        file=lambda wildcards: quality_file(ASKED_FOR, wildcards.dataset),
        contexts=quality_contexts,
    output:
        LEFT_OUT_OF_QUALITY,
    log:
        "<logs>/check_quality/{dataset}.log",
    priority: 10
    conda:
        "../envs/prediction.yaml"
    params:
        k=max(STUDY.grid["k"]),
        code=code_of("check_quality.py"),
    script:
        "../workflow/scripts/check_quality.py"


rule score_agreement:
    input:
        fetched=fetched_for_scorer,
        answers=filled(ANSWERS, CELLS) + filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
    output:
        AGREEMENT,
    log:
        "<logs>/score_agreement/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_agreement/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        patterns={"answers": ANSWERS},
        scorer=scorer_of,
        code=code_of("score_agreement.py", scorer_module),
    script:
        "../workflow/scripts/score_agreement.py"


rule predict_utility:
    input:
        **GIVEN,
        queries=QUERIES,
        run=RUN,
        contexts=passages_of,
        terms=TERMS,
        index=vector_index,
        fetched=fetched_for_vectors,
        answers=filled(ANSWERS, CELLS) + filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
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
        sare=PREDICTION_SARE,
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


rule transfer_predictions:
    input:
        predictions=each_dataset(filled(PREDICTIONS, EACH_RETRIEVER)),
        utility=each_dataset([UTILITY]),
        retrieval=each_dataset(filled(MEASURES, EACH_RETRIEVER)),
    output:
        made_by("transfer_predictions")["prediction_transfer"],
    log:
        "<logs>/transfer_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/transfer_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        patterns={
            "predictions": PREDICTIONS,
            "utility": UTILITY,
            "retrieval": MEASURES,
        },
        datasets=STUDY.grid["datasets"],
        measure=STUDY.grid["measures"][0],
        seed=STUDY.config["analysis"]["seed"],
        code=code_of("transfer_predictions.py", *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/transfer_predictions.py"
