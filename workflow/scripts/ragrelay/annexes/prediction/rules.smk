"""Prediction of utility and answer quality without judgements, for the target predict.

Input: queries, run, contexts, imported_passages, answers, index, context_use, context_likelihoods, labels_by_judge; utility, measures.
Output: terms, reranked, left_out_of_quality, agreement, predictions, prediction_sare, predict_report, and the tables that ragrelay/annexes/prediction/outputs.py lists by rule.
"""

from ragrelay.annexes.prediction import files as prediction_files
from ragrelay.annexes.prediction.rules import PREDICTOR_MODULES, Prediction
from ragrelay.annexes.prediction.rules import TABLES as PREDICTED_TABLES

prediction = Prediction(study)


wildcard_constraints:
    reranker=NAME,


rule count_terms:
    """Count the words in a corpus for predictors that use term statistics."""
    input:
        passages=of_job(collection.passage_files),
        fetched=downloads.receipts_of("dataset"),
        queries=files.queries,
    output:
        prediction_files.terms,
    log:
        "<logs>/count_terms/{dataset}.log",
    benchmark:
        "<benchmarks>/count_terms/{dataset}.tsv"
    conda:
        env("prediction")
    resources:
        **machine("index"),
    params:
        dataset=of_job(collection.of_jobs),
        cache_dir=study.cache_dir,
        code=code_of("prediction/count_terms.py", of_job(collection.module)),
    script:
        "scripts/count_terms.py"


rule rerank_contexts:
    """Score the passages in contexts with a reranker, for predictors that use these scores."""
    input:
        fetched=of_job(lambda reranker: downloads.receipts("retrievers", reranker)),
        queries=files.queries,
        contexts=files.contexts,
    output:
        prediction_files.reranked,
    log:
        "<logs>/rerank_contexts/{dataset}/{reranker}/{retriever}.log",
    benchmark:
        "<benchmarks>/rerank_contexts/{dataset}/{reranker}/{retriever}.tsv"
    conda:
        env("retrieval")
    threads: cores("retrieval", 2)
    resources:
        **machine("retrieval"),
    params:
        k=max(study.grid.k),
        definition=of_job(lambda reranker: study.retriever(reranker)),
        code=code_of("prediction/rerank_contexts.py"),
    script:
        "scripts/rerank_contexts.py"


rule check_quality:
    """Count the passages in contexts that are missing from the file of passage qualities."""
    input:
        file=prediction.quality_file_of,
        contexts=prediction.quality_contexts,
    output:
        prediction_files.left_out_of_quality,
    log:
        "<logs>/check_quality/{dataset}.log",
    priority: 10
    conda:
        env("prediction")
    params:
        k=max(study.grid.k),
        code=code_of("prediction/check_quality.py"),
    script:
        "scripts/check_quality.py"


rule score_agreement:
    """Score how similar a query's answers are across seeds, for predictors that use self-consistency."""
    input:
        fetched=downloads.receipts_of("scorer"),
        answers=generation.answers_of_retriever,
    output:
        prediction_files.agreement,
    log:
        "<logs>/score_agreement/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_agreement/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **machine("scoring"),
    params:
        patterns={"answers": files.answers},
        scorer=of_job(scoring.of_jobs),
        code=code_of("prediction/score_agreement.py", of_job(scoring.module)),
    script:
        "scripts/score_agreement.py"


rule predict_utility:
    """Compute the predictors of utility and answer quality."""
    input:
        **prediction.given,
        queries=files.queries,
        run=files.run,
        contexts=of_job(generation.passages),
        terms=prediction_files.terms,
        index=prediction.vector_index,
        fetched=prediction.fetched_for_vectors,
        answers=generation.answers_of_retriever,
    output:
        prediction_files.predictions,
    log:
        "<logs>/predict_utility/{dataset}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/predict_utility/{dataset}/{generator}/{retriever}.tsv"
    conda:
        env("prediction")
    params:
        **prediction.params,
        dense=prediction.vector_definition,
        dataset=of_job(collection.of_jobs),
        fingerprint=of_job(generation.fingerprint),
        code=code_of("prediction/predict_utility.py", of_job(collection.module), *PREDICTOR_MODULES),
    script:
        "scripts/predict_utility.py"


rule evaluate_predictions:
    """Test how well predictors correlate with utility and P."""
    input:
        predictions=prediction_files.predictions.each(study.each_retriever),
        utility=files.utility,
        retrieval=files.measures.each(study.each_retriever),
    output:
        **files.made_by("evaluate_predictions"),
        sare=prediction_files.prediction_sare,
    log:
        "<logs>/evaluate_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/evaluate_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        env("prediction")
    params:
        draws=study.draws,
        patterns={"predictions": prediction_files.predictions, "retrieval": files.measures},
        kinds=study.retriever_kinds,
        rankings=prediction.rankings,
        measure=study.grid.measures[0],
        code=code_of("prediction/evaluate_predictions.py", *PREDICTOR_MODULES),
    script:
        "scripts/evaluate_predictions.py"


rule transfer_predictions:
    """Fit regressions on the predictors of one dataset, and test them on another dataset."""
    input:
        predictions=prediction.each_dataset(prediction_files.predictions.each(study.each_retriever)),
        utility=prediction.each_dataset([files.utility]),
        retrieval=prediction.each_dataset(files.measures.each(study.each_retriever)),
    output:
        files.made_by("transfer_predictions")["prediction_transfer"],
    log:
        "<logs>/transfer_predictions/{dataset}/{scorer}/{generator}.log",
    benchmark:
        "<benchmarks>/transfer_predictions/{dataset}/{scorer}/{generator}.tsv"
    conda:
        env("prediction")
    params:
        seed=study.settings.analysis.seed,
        patterns={"predictions": prediction_files.predictions, "utility": files.utility, "retrieval": files.measures},
        datasets=study.grid.datasets,
        measure=study.grid.measures[0],
        code=code_of("prediction/transfer_predictions.py", *PREDICTOR_MODULES),
    script:
        "scripts/transfer_predictions.py"


rule report_predictions:
    """Write the page about predictions."""
    input:
        **prediction.tables,
        quality_left_out=(
            study.grid_paths(prediction_files.left_out_of_quality) if prediction.asked_for.passage_quality else []
        ),
        template=reported.template("predict"),
        page_parts=reported.page_parts,
    output:
        *reported.paths(reported.outputs("prediction", "figure"), study.sections),
        page=reported.page(prediction_files.predict_report, "captions/predict_page.rst", "prediction"),
    log:
        "<logs>/report_predictions.log",
    conda:
        env("prediction")
    params:
        patterns=PREDICTED_TABLES | {"quality_left_out": prediction_files.left_out_of_quality},
        study=study.name,
        sections=study.sections,
        rankings=prediction.rankings,
        notices=reported.notices(study.grid.generators),
        code=code_of("prediction/report_predictions.py", *reported.modules("prediction")),
    script:
        "scripts/report_predictions.py"


rule predict:
    """Predict a finished study's utility and answer quality without judgements, and write a page and tables."""
    input:
        lambda wildcards: prediction.results(reported),
