"""Write numbers for people: a true minus sign, fixed decimals, a dash for a missing value."""

import math

MISSING = "–"
MINUS = "\N{MINUS SIGN}"


def number(value: float | None, digits: int = 3) -> str:
    """Write ``value`` with ``digits`` decimals; a dash if it is null or not finite; never a negative zero."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0 and any(character in "123456789" for character in text)
    return MINUS + text if negative else text


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write ``[low, high]``; a dash if either end is missing."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return f"[{number(low, digits)}, {number(high, digits)}]"


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 3) -> str:
    """Write ``value [low, high]``; only the value without an interval."""
    shown = interval(low, high, digits)
    return number(value, digits) if shown == MISSING else f"{number(value, digits)} {shown}"


def p_value(value: float | None) -> str:
    """Write a p-value with three decimals, or ``<0.001``; a dash if it is null."""
    if value is None or not math.isfinite(value):
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def share(value: float | None, digits: int = 0) -> str:
    """Write a share in 0..1 as a percentage with ``digits`` decimals."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{100 * value:.{digits}f}%"


def count(value: int | None) -> str:
    """Write an integer with commas between thousands."""
    return MISSING if value is None else f"{value:,d}"


def listing(words: list[str]) -> str:
    """Write ``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "none"


def counted(amount: int, noun: str, plural: str | None = None) -> str:
    """Write ``1 query``, ``2 queries``: ``amount`` with ``noun`` in its right form (plural: noun + s by default)."""
    return f"{count(amount)} {noun if amount == 1 else plural or noun + 's'}"


def about(expected: float) -> str:
    """Write an expected number of tests, rounded: ``about 2``, or ``fewer than 1``."""
    whole = round(expected)
    return f"about {count(whole)}" if whole else "fewer than 1"
