"""Draw the page's first figure, which shows each retriever's mean P against k, as an inline SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from itertools import count as count_from
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ragrelay.report.display.findings import Row
from ragrelay.report.display.numbers import count, counted, number
from ragrelay.report.display.palette import GREY
from ragrelay.report.display.sections import Section
from ragrelay.report.facts import Facts, Mean
from ragrelay.report.lead_answers import short

MOST_NAMED = 4
"""With more rankings, only the primary pair and the best ranking have a colour and a name."""
SHORT = {"better, by less than the margin": "better", "worse, by less than the margin": "worse",
         "better by more than the margin": "better", "worse by more than the margin": "worse"}  # fmt: skip
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 10.0)
"""Possible distances between the scale's ticks; larger ones are 2, 5 or 10 times a power of ten."""
LINE = 18
"""The minimum distance between two lines' names, in pixels."""
TOP, AXIS = 10, 83
LETTER = 7
"""The approximate width of a letter in pixels."""


@dataclass(frozen=True)
class Size:
    """The figure's width and height in pixels, and the margins for the scale on the left and the names on the right."""

    name: str
    width: int
    height: int
    right: int
    left: int = 34


SIZES = (Size("wide", 660, 397, 160), Size("narrow", 358, 367, 112))


def words_of(mean: Mean) -> str:
    """Format a mean with the interval and the number of queries."""
    return f"{short(mean.value, mean.low, mean.high)}, {counted(mean.n, 'query', 'queries')}"


def coloured(facts: Facts) -> list[str]:
    """Return the rankings to draw in colour: all if there are few, otherwise the primary pair and the best ranking."""
    pair, lines = facts.section.primary, facts.means
    rankings = [name for name in facts.section.rankings if name in lines]
    if len(rankings) <= MOST_NAMED or pair is None:
        return rankings[:MOST_NAMED]
    best = max(rankings, key=lambda name: lines[name][-1].value)
    return list(dict.fromkeys((pair.retriever, pair.reference, best)))


def state(section: Section, part: int, retriever: str, k: int) -> str:
    """Return the URL fragment that opens a cell in the query explorer."""
    lead = section.lead
    wanted = {
        "part": part,
        "retriever": retriever,
        "k": k,
        "ordering": lead["ordering"],
        "references": lead["references"],
    }
    return "#" + urlencode(wanted)


def lead_figure(facts: Facts, part: int, explored: bool) -> list[Row]:
    """Return the macro ``lead_figure``'s values, a row per size. ``part``: the section's index in the explorer."""
    lines, baseline = facts.means, facts.zero_shot
    if not lines:
        return []
    ends = [end for line in (*lines.values(), [baseline] if baseline else []) for mean in line
            for end in (mean.low, mean.value, mean.high) if end is not None]  # fmt: skip
    powers = (first * 10.0**zeros for zeros in count_from(1) for first in (2, 5, 10))
    step = next(step for step in chain(STEPS, powers) if max(ends) - min(ends) <= 5 * step)
    # Without rounding, a P of 1 + 1e-7 would get a tick above 1.
    bottom, top = (step * edge for edge in (np.floor(round(min(ends) / step, 4)), np.ceil(round(max(ends) / step, 4))))
    ticks = np.arange(bottom, max(top, bottom + step) + step / 2, step).round(4).tolist()
    return [_drawn(facts, part, explored, size, ticks) for size in SIZES]


def _drawn(facts: Facts, part: int, explored: bool, size: Size, ticks: Sequence[float]) -> Row:
    section, lines, baseline, shown = facts.section, facts.means, facts.zero_shot, coloured(facts)
    step = ticks[1] - ticks[0]
    written = [number(tick, 2 if step < 0.099 else 1 if step <= STEPS[-1] else 0) for tick in ticks]
    if step > STEPS[-1]:
        size = replace(size, left=10 + LETTER * max(map(len, written)))
    ks = [k for k in section.grid.k if any(mean.k == k for line in lines.values() for mean in line)]
    right, floor = size.width - size.right, size.height - AXIS
    room = (right - size.left) / len(ks)
    at = {k: size.left + room * (place + 0.5) for place, k in enumerate(ks)}

    def y(value: float) -> float:
        return round(floor - (value - ticks[0]) / (ticks[-1] - ticks[0]) * (floor - TOP), 1)

    shift = min(12.0, room / 2 / max(len(lines), 1))
    drawn: list[Row] = []
    labels: list[Row] = []
    # Coloured lines are drawn last, on top of the others.
    for name in sorted(lines, key=lambda name: name in shown):
        kind = "ranking" if name in shown else "rest" if name in section.rankings else "designed"
        look, place = section.looks[name], list(lines).index(name) - (len(lines) - 1) / 2
        points = [
            {"x": round(at[mean.k] + shift * place, 1), "y": y(mean.value),
             "said": f"{name}, k = {mean.k}: P {words_of(mean)}",
             "low": None if mean.low is None else y(mean.low), "high": None if mean.high is None else y(mean.high),
             "link": state(section, part, name, mean.k) if explored else None}
            for mean in lines[name]
        ]  # fmt: skip
        drawn.append({"name": name, "kind": kind, "colour": look.colour if kind == "ranking" else GREY,
                      "shape": look.shape if kind == "ranking" else "circle", "points": points,
                      "path": " ".join(f"{point['x']},{point['y']}" for point in points)})  # fmt: skip
        last = lines[name][-1]
        labels.append({"text": f"{name} {number(last.value, 2)}", "y": y(last.value), "kind": kind, "own": drawn[-1]})
    if baseline:
        labels.append(
            {"text": f"zero-shot {number(baseline.value, 2)}", "y": y(baseline.value), "kind": "zero", "own": None}
        )
    apart([label for label in labels if label["kind"] != "rest"], floor)
    most = (size.right - 8) // LETTER
    for label in labels:
        label["shown"] = label["text"]
        if len(label["text"]) > most:
            name, _, value = label["text"].rpartition(" ")
            label["shown"] = f"{name[: most - len(value) - 2]}… {value}"
    rows, few = facts.pair_by_k, len(ks) <= (6 if size.name == "wide" else 4)
    paired = []
    for row in (rows[k] for k in ks if k in rows):
        if row.mean_difference is None:
            continue
        value, _, between = short(row.mean_difference, row.low, row.high).partition(" ")
        word, interval = verdict_in_short(row), between.strip("[]").replace(", ", " to ")
        word = word if LETTER * len(word) < room else word.removesuffix(" queries")
        paired.append({"x": round(at[row.k], 1), "value": signed(value), "word": word if few else "",
                       "interval": interval if few and LETTER * len(interval) < room else ""})  # fmt: skip
    return {
        "size": size, "right": right, "floor": floor, "ticks": list(zip(map(y, ticks), written, strict=True)),
        "ks": [(round(at[k], 1), count(k)) for k in ks], "lines": drawn, "labels": labels, "paired": paired,
        "level": "95% or more" if any((row.level or 0.0) > 0.95 for row in rows.values()) else "95% interval",
        "pair": next(((row.retriever, row.against_retriever) for row in rows.values()), ()),
        "most": most, "zero": None if baseline is None else {
            "y": y(baseline.value), "said": f"zero-shot, no passages: P {words_of(baseline)}",
            "band": None if baseline.low is None or baseline.high is None else (y(baseline.high), y(baseline.low))},
    }  # fmt: skip


def verdict_in_short(row: Mapping[str, Any]) -> str:
    """Return the verdict in a row of systems.csv or gain.csv, shortened to at most three words."""
    word = row.get("verdict") or ""
    return SHORT.get(word, word)


def signed(text: str) -> str:
    """Add a plus sign to a formatted number if it is positive."""
    return "+" + text if text[0].isdigit() and text.strip("0.") else text


def apart(labels: list[Row], floor: float, line: float = LINE) -> None:
    """Move ``labels`` until they are at least ``line`` pixels apart and above ``floor``. Labels keep their order."""
    labels.sort(key=lambda label: label["y"])
    for place, label in enumerate(labels):
        if place:
            label["y"] = max(label["y"], labels[place - 1]["y"] + line)
    least = floor
    for label in reversed(labels):
        label["y"] = min(label["y"], least)
        least = label["y"] - line
