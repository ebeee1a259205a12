"""Cases of battles for shared tables (tests.support.annex_cases)."""

CEILING = {"annex battles": 2750}  # three kinds, files of votes, five tables, their page and explorer block
ASKED_BY = {
    "annexes/battles/votes.py": {"judge_pairs"},
    "generation/tokens.py": {"judge_pairs"},
    "generation/likelihoods/words.py": {"judge_pairs"},
    "generation/likelihoods/endpoint_words.py": {"judge_pairs"},
}
