"""Register the files written by prediction jobs, except the report's tables."""

from ragrelay.annexes.prediction.questions.score_contexts import ScoreContexts
from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
left_out_of_quality = StudyFile("{dataset}/predictions/quality.left_out.json", "check_quality",
    "number of passages in contexts that are missing from the quality file")
terms = StudyFile("{dataset}/predictions/terms.json", "count_terms",
    "receipt for the corpus's word statistics, which are stored in the cache")
context_likelihoods = ScoreContexts.made["table"]
reranked = StudyFile("{dataset}/predictions/reranked/{reranker}/{retriever}.parquet", "rerank_contexts",
    "a reranker's scores for the passages in contexts", "ragrelay.annexes.prediction.stage_columns:RERANKED")
agreement = StudyFile("{dataset}/predictions/agreement/{scorer}/{generator}/{retriever}.parquet", "score_agreement",
    "self-consistency of each prompt's answers, using a scorer", "ragrelay.annexes.prediction.self_consistency:COLUMNS")
predictions = StudyFile("{dataset}/predictions/{generator}/{retriever}.parquet", "predict_utility",
    "the predictors of utility and answer quality", "ragrelay.annexes.prediction.table:COLUMNS")
prediction_sare = StudyFile("{dataset}/analysis/{scorer}/{generator}/prediction_sare.parquet", "evaluate_predictions",
    "each predictor's rank error for each query, at the largest k",
    "ragrelay.annexes.prediction.accuracy:SARE_COLUMNS")
predict_report = StudyFile("report/predict.html", "report_predictions", "the page on predictions")
# fmt: on
