"""Name the checks for judges' position and length bias, and define the padding for answers and passages."""

REVERSED, SWAPPED, PADDED, LENGTH = "reversed", "swapped", "padded", "length"
CHECKS = (REVERSED, SWAPPED, PADDED, LENGTH)
PADDING = (
    "That was the text. It was written once and is given here in the same words and in the same order. These sentences "
    "come after it. They belong to no part of it and say nothing about it."
)
"""Padding that says nothing about any question or about the quality of an answer."""
PADDING_WORDS = len(PADDING.split())
ABOUT = (
    f"`{REVERSED}`: references or passages in reverse order; `{SWAPPED}`: the question's parts in a different order; "
    f"`{PADDED}`: the answer, sentence or passage with {PADDING_WORDS} more words; `{LENGTH}`: no change"
)
