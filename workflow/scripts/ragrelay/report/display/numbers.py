"""Write numbers for people: a true minus sign, fixed decimals, a dash for a missing value."""

import math
from collections.abc import Iterable

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
MOST_DIGITS, ROUNDING = 6, 1e-9
"""The maximum decimals of an interval, and the size below which a number counts as zero with a rounding error."""


def number(value: float | None, digits: int = 3) -> str:
    """Write ``value`` with ``digits`` decimals; a dash if it is null or not finite; never a negative zero."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0 and any(character in "123456789" for character in text)
    return MINUS + text if negative else text


def decimals(numbers: Iterable[float | None], digits: int, apart: float = 0.0) -> int:
    """Return the fewest decimals, at least ``digits``, with which no nonzero number is written as 0 or as ``apart``."""
    sizes = [abs(one) for one in numbers if one is not None and math.isfinite(one) and abs(one) > ROUNDING]
    return min(range(digits, MOST_DIGITS + 1), key=lambda few: sum(round(size, few) in (0.0, apart) for size in sizes))


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write ``[low, high]`` with at least ``digits`` decimals (see `decimals`); a dash if an end is missing."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return "[{}, {}]".format(*(number(end, decimals((low, high), digits)) for end in (low, high)))


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 3, apart: float = 0) -> str:
    """Write ``value [low, high]`` with enough decimals; only the value if there is no interval."""
    known = interval(low, high) != MISSING
    digits = decimals((low, high) if known else (value,), digits, apart)
    return f"{number(value, digits)} {interval(low, high, digits)}" if known else number(value, digits)


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
    """Write ``amount`` with ``noun`` in singular or plural (by default noun + s): ``1 query``, ``2 queries``."""
    return f"{count(amount)} {noun if amount == 1 else plural or noun + 's'}"


def about(expected: float) -> str:
    """Write an expected number of tests, rounded: ``about 2``, or ``fewer than 1``."""
    whole = round(expected)
    return f"about {count(whole)}" if whole else "fewer than 1"
