"""Name the checks for position and length bias in judges, and define the padding for the length checks."""

REVERSED, SWAPPED, PADDED, LENGTH = "reversed", "swapped", "padded", "length"
CHECKS = (REVERSED, SWAPPED, PADDED, LENGTH)
PADDING = (
    "That was the text. It was written once and is given here in the same words and in the same order. These sentences "
    "come after it. They belong to no part of it and say nothing about it."
)
"""Padding that says nothing about any question or about the quality of an answer."""
PADDING_WORDS = len(PADDING.split())
ABOUT = (
    f"change whose effect is measured: `{REVERSED}` puts the references or passages in reverse order, `{SWAPPED}` puts "
    f"the question's parts in a different order, and `{PADDED}` appends {PADDING_WORDS} words to the answer, sentence "
    f"or passage; `{LENGTH}` makes no change but correlates the score with the number of words"
)
