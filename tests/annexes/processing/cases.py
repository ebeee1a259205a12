"""Cases of the effects of processors for shared tables (tests.support.annex_cases)."""

CEILING = {"annex processing": 700}  # tests of it that the core had
