"""Text that does something to a terminal, and whether a text does."""

CODES = "\x1b[2J\x1b]0;title\x07\r\u202eevil\x9b1A\x08"
"""Clears the screen, sets its title, hides what is before it in the line, turns what follows around, goes back."""


def only_text(output: str) -> bool:
    """Whether a terminal shows ``output`` as it is, line by line."""
    return output.replace("\n", "").replace("\t", "").isprintable()
