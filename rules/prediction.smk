"""Prediction: utility and answer quality from what is known without judgements, for the target predict.

Input: queries, run, contexts, answers, index, context_use; utility, measures.
Output: terms, context_likelihoods, reranked, left_out_of_quality, agreement, predictions, prediction_sare, and the tables that ragrelay/prediction/outputs.py lists by rule.
"""


rule count_terms:
    """Count the words of the corpus, for predictors."""
    input:
        passages=lambda wildcards: study.passage_files(wildcards.dataset),
        fetched=lambda wildcards: study.fetched("datasets", wildcards.dataset),
        queries=files.queries,
    output:
        files.terms,
    log:
        "<logs>/count_terms/{dataset}.log",
    benchmark:
        "<benchmarks>/count_terms/{dataset}.tsv"
    conda:
        "../envs/prediction.yaml"
    resources:
        **machine("index"),
    params:
        dataset=study.dataset_of,
        cache_dir=study.cache_dir,
        code=code_of("count_terms.py", study.dataset_module),
    script:
        "../workflow/scripts/count_terms.py"


rule rerank_contexts:
    """Score the contexts' passages by a reranker, for predictors."""
    input:
        fetched=lambda wildcards: study.fetched("retrievers", wildcards.reranker),
        queries=files.queries,
        contexts=files.contexts,
    output:
        files.reranked,
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
        k=max(study.grid["k"]),
        definition=lambda wildcards: study.retriever(wildcards.reranker),
        code=code_of("rerank_contexts.py"),
    script:
        "../workflow/scripts/rerank_contexts.py"


rule check_quality:
    """Check that a file of passage quality covers the contexts."""
    input:
        file=lambda wildcards: quality_file(ASKED_FOR, wildcards.dataset),
        contexts=quality_contexts,
    output:
        files.left_out_of_quality,
    log:
        "<logs>/check_quality/{dataset}.log",
    priority: 10
    conda:
        "../envs/prediction.yaml"
    params:
        k=max(study.grid["k"]),
        code=code_of("check_quality.py"),
    script:
        "../workflow/scripts/check_quality.py"


rule score_agreement:
    """Score the agreement of answers over seeds, for predictors."""
    input:
        fetched=study.fetched_for_scorer,
        answers=files.answers.each(study.cells)
        + files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        files.agreement,
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
        patterns={"answers": files.answers},
        scorer=study.scorer_of,
        code=code_of("score_agreement.py", study.scorer_module),
    script:
        "../workflow/scripts/score_agreement.py"


rule predict_utility:
    """Compute predictors of utility and answer quality."""
    input:
        **GIVEN,
        queries=files.queries,
        run=files.run,
        contexts=lambda wildcards: study.passages_of(wildcards.generator),
        terms=files.terms,
        index=vector_index,
        fetched=fetched_for_vectors,
        answers=files.answers.each(study.cells)
        + files.zeroshot_answers.each(study.zeroshot_cells),
    output:
        files.predictions,
    log:
        "<logs>/predict_utility/{dataset}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/predict_utility/{dataset}/{generator}/{retriever}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        **PREDICTING,
        dense=vector_definition,
        dataset=study.dataset_of,
        fingerprint=study.fingerprint_of,
        code=code_of("predict_utility.py", study.dataset_module, *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/predict_utility.py"


rule evaluate_predictions:
    """Test predictors against utility and P."""
    input:
        predictions=files.predictions.each(study.each_retriever),
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
    output:
        **files.made_by("evaluate_predictions"),
        sare=files.prediction_sare,
    log:
        "<logs>/evaluate_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/evaluate_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        patterns={"predictions": files.predictions, "retrieval": files.measures},
        kinds={name: study.retriever(name)["kind"] for name in study.grid["retrievers"]},
        rankings=[name for name in study.grid["retrievers"] if not judged(name)],
        measure=study.grid["measures"][0],
        resamples=study.config["analysis"]["resamples"],
        seed=study.config["analysis"]["seed"],
        code=code_of("evaluate_predictions.py", *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/evaluate_predictions.py"


rule transfer_predictions:
    """Test predictors that are fitted on other datasets."""
    input:
        predictions=each_dataset(files.predictions.each(study.each_retriever)),
        utility=each_dataset([files.utility]),
        retrieval=each_dataset(files.measures.each(study.each_retriever)),
    output:
        files.made_by("transfer_predictions")["prediction_transfer"],
    log:
        "<logs>/transfer_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/transfer_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        "../envs/prediction.yaml"
    params:
        patterns={
            "predictions": files.predictions,
            "utility": files.utility,
            "retrieval": files.measures,
        },
        datasets=study.grid["datasets"],
        measure=study.grid["measures"][0],
        seed=study.config["analysis"]["seed"],
        code=code_of("transfer_predictions.py", *PREDICTOR_MODULES),
    script:
        "../workflow/scripts/transfer_predictions.py"
