"""Register the files of rechecks."""

from ragrelay.base.vocabulary.study_file import StudyFile

MODULE = "ragrelay.annexes.recheck"
# fmt: off
rechecked_answers = StudyFile("recheck/{dataset}/{generator}/answers.parquet", "recheck_answers",
    "the stored answers that were drawn, and the same made again", f"{MODULE}.comparison:COLUMNS")
recheck_receipt = StudyFile("recheck/{dataset}/{generator}/receipt.json", "recheck_answers",
    "by which engines, versions, devices and settings both were made")
recheck_scores = StudyFile("recheck/{dataset}/{generator}/scores/{scorer}.parquet", "score_recheck",
    "their scores with the first set of references", f"{MODULE}.scores:COLUMNS")
recheck_table = StudyFile("recheck/recheck.csv", "recheck",
    "how many answers are bit-equal, and by how much scores changed, for each dataset, generator and scorer",
    f"{MODULE}.summary:COLUMNS")
recheck_record = StudyFile("recheck/recheck.json", "recheck",
    "the same with the receipts; from the next run on also in the provenance and on the page")
# fmt: on
