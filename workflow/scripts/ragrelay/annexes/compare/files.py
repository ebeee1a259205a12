"""Register the comparison files that belong neither to a question nor to a report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

comparison = StudyFile("compare/{studies}/index.html", "compare_studies", "page that compares studies with a baseline")
