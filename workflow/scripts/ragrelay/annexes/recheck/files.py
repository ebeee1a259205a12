"""Register the files that rechecks write."""

from ragrelay.base.vocabulary.study_file import StudyFile

MODULE = "ragrelay.annexes.recheck"
# fmt: off
rechecked_answers = StudyFile("recheck/{dataset}/{generator}/answers.parquet", "recheck_answers",
    "the drawn answers, both as stored and as regenerated", f"{MODULE}.comparison:COLUMNS")
recheck_receipt = StudyFile("recheck/{dataset}/{generator}/receipt.json", "recheck_answers",
    "the engines, versions, devices and settings with which the stored and the regenerated answers were generated")
recheck_scores = StudyFile("recheck/{dataset}/{generator}/scores/{scorer}.parquet", "score_recheck",
    "the scores of the stored and the regenerated answers (first reference set)", f"{MODULE}.scores:COLUMNS")
recheck_table = StudyFile("recheck/recheck.csv", "recheck",
    "how many answers are bit-identical, and how much scores changed, for each dataset, generator and scorer",
    f"{MODULE}.summary:COLUMNS")
recheck_record = StudyFile("recheck/recheck.json", "recheck",
    "the contents of `recheck.csv` and the receipts; after the next run, the provenance and the page show them too")
# fmt: on
