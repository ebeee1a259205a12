"""Cases of search rounds for shared tables (tests.support.annex_cases)."""

CEILING = {"annex rounds": 2800}  # files, queries and tables of each round; its rules; the block in the explorer
NOT_COUNTED = {"search_round": "keeps nothing in the cache: it searches again whenever it runs"}
