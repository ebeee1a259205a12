"""Cases of the list of studies for shared tables (tests.support.annex_cases)."""

CEILING = {"annex studies": 600}  # the warnings of each page
LOCAL = {"studies"}
OTHER_SCRIPTS = {"studies/list_studies.py"}
