"""Cases of scores by people for shared tables (tests.support.annex_cases)."""

CEILING = {"annex people": 3200}  # a test of its target, from tests/e2e
LOCAL = {"to_score"}
