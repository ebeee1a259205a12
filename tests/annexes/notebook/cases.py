"""Cases of the doors to notebooks for shared tables (tests.support.annex_cases)."""

CEILING = {"annex notebook": 950}
