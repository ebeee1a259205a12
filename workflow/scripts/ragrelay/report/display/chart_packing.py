"""Pack a chart's rows into columns, for a page with many rows: names once, repeated words as indexes of a list."""

from typing import Any

from ragrelay.report.display.charts import Spec

Column = dict[str, Any]


def packed(spec: Spec) -> Spec:
    """Replace data.values of ``spec`` by a mapping of names to columns, which ``unpack`` of page.js reverses.

    A column is ``{"values": [...]}``, or ``{"words": [...], "places": [...]}`` where places are indexes of words.
    """
    rows = spec["data"]["values"]
    names = dict.fromkeys(name for row in rows for name in row)
    return spec | {"data": {"columns": {name: _column([row.get(name) for row in rows]) for name in names}}}


def _column(values: list[Any]) -> Column:
    words = list(dict.fromkeys(values))
    if len(words) * 2 > len(values):
        return {"values": values}
    places = {word: place for place, word in enumerate(words)}
    return {"words": words, "places": [places[value] for value in values]}
