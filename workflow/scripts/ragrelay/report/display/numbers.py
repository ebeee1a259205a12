"""Format numbers for readers, with a true minus sign, fixed decimals and a dash for a missing value."""

import math
from collections.abc import Iterable

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
MOST_DIGITS, ROUNDING = 6, 1e-9
"""The maximum decimals of an interval, and the size below which a number counts as zero with a rounding error."""


def number(value: float | None, digits: int = 3) -> str:
    """Format ``value`` with ``digits`` decimals, or return a dash if ``value`` is None, NaN or infinite."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0 and any(character in "123456789" for character in text)
    return MINUS + text if negative else text


def decimals(numbers: Iterable[float | None], digits: int, apart: float = 0.0) -> int:
    """Return how many decimals (at least ``digits``) keep nonzero numbers from being rounded to 0 or to ``apart``."""
    sizes = [abs(one) for one in numbers if one is not None and math.isfinite(one) and abs(one) > ROUNDING]
    return min(range(digits, MOST_DIGITS + 1), key=lambda few: sum(round(size, few) in (0.0, apart) for size in sizes))


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Format the interval ``[low, high]`` with ``digits`` or more decimals, or return a dash if an end is missing."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return MISSING
    return "[{}, {}]".format(*(number(end, decimals((low, high), digits)) for end in (low, high)))


def with_interval(value: float | None, low: float | None, high: float | None, digits: int = 3, apart: float = 0) -> str:
    """Format ``value [low, high]``, or only the value if there is no interval, with ``digits`` or more decimals."""
    known = interval(low, high) != MISSING
    digits = decimals((low, high) if known else (value,), digits, apart)
    return f"{number(value, digits)} {interval(low, high, digits)}" if known else number(value, digits)


def p_value(value: float | None) -> str:
    """Format a p-value with three decimals or as ``<0.001``, or return a dash for a missing value."""
    if value is None or not math.isfinite(value):
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def p_compared(value: float | None) -> str:
    """Format a p-value for a sentence, as ``= 0.013`` or ``< 0.001``."""
    text = p_value(value)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def share(value: float | None, digits: int = 0) -> str:
    """Format a share (from 0 to 1) as a percentage with ``digits`` decimals."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{100 * value:.{digits}f}%"


def count(value: int | None) -> str:
    """Format an integer with commas as thousands separators."""
    return MISSING if value is None else f"{value:,d}"


def listing(words: list[str]) -> str:
    """Join words as ``a``, ``a and b`` or ``a, b and c``."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else "none"


def counted(amount: int, noun: str, plural: str | None = None) -> str:
    """Format ``amount`` with a noun, such as ``1 query`` or ``2 queries``. ``plural`` is by default noun + s."""
    return f"{count(amount)} {noun if amount == 1 else plural or noun + 's'}"


def out_of(amount: int, total: int, noun: str) -> str:
    """Format a part of a total, such as ``2 of 6 cells``, ``all 6 cells`` or ``none of the 6 cells``."""
    if total < 3 or 0 < amount < total:
        return f"{count(amount)} of {counted(total, noun)}"
    return f"{'all' if amount else 'none of the'} {counted(total, noun)}"


def about(expected: float) -> str:
    """Round an expected number, and format it as ``about 2`` or ``less than 1``."""
    whole = round(expected)
    return f"about {count(whole)}" if whole else "less than 1"
