"""Cases of scores by people for shared tables (tests.support.annex_cases)."""

CEILING = {"annex people": 3250}  # a test of its target, from tests/e2e; names of comparisons without an interval
LOCAL = {"to_score"}
