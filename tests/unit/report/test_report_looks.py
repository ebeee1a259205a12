"""Numbers as text, and the look of each retriever."""

import pytest
from ragrelay.report.display import numbers
from ragrelay.report.display.palette import BLUE, GREEN, GREY, VERMILLION, looks


def luminance(colour: str) -> float:
    """Relative luminance of a hex colour (WCAG 2.2)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_number_text():
    assert numbers.number(-0.1234) == "−0.123"
    assert numbers.number(-0.0004) == "0.000"
    assert numbers.number(1234.5, 1) == "1,234.5"
    assert numbers.number(None) == numbers.number(float("nan")) == numbers.MISSING
    assert numbers.with_interval(0.5, 0.25, None, 2) == "0.50"
    assert numbers.with_interval(-0.5, -0.75, 0.25, 2) == "−0.50 [−0.75, 0.25]"
    assert [numbers.p_value(p) for p in (0.0009, 0.001, 1.0, None)] == ["<0.001", "0.001", "1.000", numbers.MISSING]
    assert numbers.listing(["a", "b", "c"]) == "a, b and c"
    assert numbers.counted(1, "query", "queries") == "1 query"
    assert numbers.counted(1200, "query", "queries") == "1,200 queries"


def test_oracles_keep_their_colours():
    found = looks(["nrel", "bm25", "rel", "dense"])
    assert (found["rel"].colour, found["nrel"].colour) == (GREEN, GREY)
    assert (found["bm25"].colour, found["dense"].colour) == (BLUE, VERMILLION)  # by their order


def test_green_and_grey_are_for_others_where_free():
    assert {GREEN, GREY} <= {look.colour for look in looks([f"r{place}" for place in range(7)]).values()}


@pytest.mark.parametrize("count", [2, 7, 9, 20])
def test_looks_differ_in_colour_and_without_it(count: int):
    found = list(looks([f"r{place}" for place in range(count)]).values())
    assert len(set(found)) == count
    assert len({(look.dash, look.shape) for look in found}) == count  # told apart in grey
    if count <= 7:
        assert len({look.colour for look in found}) == count


def test_colours_show_on_white_and_on_the_dark_page():
    for look in looks(["a", "b", "c", "d", "e", "rel", "nrel"]).values():
        assert contrast(look.colour, "#ffffff") > 2
        assert contrast(look.colour, "#14171a") > 3
