"""Cases of search rounds for shared tables (tests.support.annex_cases)."""

CEILING = {"annex rounds": 2550}  # files, queries and tables of each round; its rules
