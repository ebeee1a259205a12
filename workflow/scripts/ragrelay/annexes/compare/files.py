"""Register the files of comparisons of studies that no question and no table of the report has."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
comparison = StudyFile("compare/{pair}/index.html", "compare_studies", "page that compares two studies")
several = StudyFile("compare/{studies}/studies.html", "compare_several",
    "page that compares several studies, each with the first")
# fmt: on
