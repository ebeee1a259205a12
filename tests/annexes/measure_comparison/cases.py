"""Cases of the comparison of measures for shared tables (tests.support.annex_cases)."""

CEILING = {"annex measure_comparison": 1370}
