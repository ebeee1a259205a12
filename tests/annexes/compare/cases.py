"""Cases of the comparison of studies for shared tables (tests.support.annex_cases)."""

from tests.support.bad_input_changes import Case, Expected, key

BAD_INPUT = {
    "Configuration": [
        Case("Braces in a compared study's path", key("compare", {"before": "results/{study}", "after": "mine"})),
    ]
}
HOSTILE: list[Expected] = [
    ("a secret in compare.before", key("compare.before", "glpat-aB3dE6gH9jK1aB3dE6gH"), "found ")
]
