"""Cases of battles for shared tables (tests.support.annex_cases)."""

CEILING = {"annex battles": 2900}  # three kinds, files of votes, five tables, their page and explorer block
