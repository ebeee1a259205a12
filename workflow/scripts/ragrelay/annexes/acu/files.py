"""Register the claims files that belong neither to a question nor to a report table."""

from ragrelay.annexes.acu.questions.judge_evidence import JudgeEvidence
from ragrelay.annexes.acu.questions.score_claims import ScoreClaims
from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
claims = StudyFile("acu/{claims}/claims.parquet", "prepare_claims", "the claim–evidence pairs, as read from the source",
    "ragrelay.annexes.acu.stage_columns:CLAIMS")
claim_prompts = StudyFile("acu/{claims}/prompts/{template}.parquet", "build_claim_prompts",
    "prompts for each pair, without and with the evidence", "ragrelay.annexes.acu.stage_columns:CLAIM_PROMPTS")
claim_scores_receipt = ScoreClaims().job_receipt()
claim_pairs = ScoreClaims.made["pairs"]
judged_evidence = JudgeEvidence.made["judged"]
characteristics = StudyFile("acu/{claims}/characteristics.parquet", "describe_claims",
    "characteristics of each pair's evidence", "ragrelay.annexes.acu.characteristic_columns:COLUMNS")
entities = StudyFile("acu/{claims}/characteristics.json", "describe_claims", "the method used to find entities")
acu_report = StudyFile("report/acu.html", "report_acu", "a claims study's page")
# fmt: on
