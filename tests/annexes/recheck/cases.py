"""Cases of the recheck for shared tables (tests.support.annex_cases)."""

CEILING = {"annex recheck": 1750}  # tests of it that the core had
TARGETS = {"planned": "recheck"}
GIVEN_TEXT = ("recheck={answers: 24}", "recheck", {"answers": 24})
LOCAL = {"recheck"}
NOT_COUNTED = {"score_recheck": "scores outside the store, only after answers were made again"}
