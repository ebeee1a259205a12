"""Cases of the lengths of thoughts for shared tables (tests.support.annex_cases)."""

CEILING = {"annex thoughts": 1500}  # tests of it that the core had
