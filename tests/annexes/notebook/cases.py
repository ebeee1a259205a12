"""Cases of the doors to notebooks for shared tables (tests.support.annex_cases)."""

CEILING = {"annex notebook": 1150}  # public names' Args, Returns, Raises
