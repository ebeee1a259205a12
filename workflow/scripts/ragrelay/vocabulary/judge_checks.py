"""Checks of judges for bias by position and length: their names, and what answers and passages are padded with."""

REVERSED, SWAPPED, PADDED, LENGTH = "reversed", "swapped", "padded", "length"
CHECKS = (REVERSED, SWAPPED, PADDED, LENGTH)
PADDING = (
    "That was the text. It was written once and is given here in the same words and in the same order. These sentences "
    "come after it. They belong to no part of it and say nothing about it."
)
"""It says nothing about any question, and nothing about how good the answer is."""
PADDING_WORDS = len(PADDING.split())
ABOUT = (
    f"`{REVERSED}`: references or passages in reverse order; `{SWAPPED}`: the question's parts in another order; "
    f"`{PADDED}`: the answer, sentence or passage with {PADDING_WORDS} words more; `{LENGTH}`: nothing is changed"
)
