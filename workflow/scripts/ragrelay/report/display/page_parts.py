"""Arrange registered outputs on a page: parts with their headings, each with its figures and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.report.display.chart_packing import packed
from ragrelay.report.display.charts import Spec
from ragrelay.report.display.outputs import AS_WRITTEN, Figure, Output, Part, resolve
from ragrelay.report.display.tables import filled, table_as_written

SAMPLED = "An even sample of the queries is drawn; statistics are of all queries."


def page_parts(
    shown: Any,
    outputs: Sequence[Output],
    parts: Mapping[str, Part],
    anchor: str,
    charts: dict[str, Spec],
    most: Mapping[type[Any], int],
    words: Mapping[str, str],
    of_queries: str = "",
) -> list[dict[str, Any]]:
    """Return the values for the macro ``parts``: anchor, heading, intro and items of each part that has any.

    ``outputs`` are drawn from ``shown``, and their charts added to ``charts``; those without a record or row are left
    out. ``most``: the approximate number of records that a limited Figure or Table may show. ``words`` fill in titles
    and notes; ``of_queries`` is added to the notes of figures whose points are queries.
    """
    filled_parts = []
    for name, part in parts.items():
        items: list[dict[str, Any]] = []
        for output in outputs:
            if output.part == name:
                item_anchor = f"{anchor}-{output.name}"
                limit = (most[type(output)],) if output.limited else ()
                title, note = (text.format_map(words) for text in (output.title, output.note))
                if isinstance(output, Figure):
                    spec = resolve(output.draw)(shown, "page", *limit)
                    if not spec["data"]["values"]:
                        continue
                    notes = [note, SAMPLED] if spec.get("usermeta", {}).get("sampled") else [note]
                    notes += [of_queries] if output.queries and of_queries else []
                    charts[item_anchor] = packed(spec)
                    items.append({"macro": "figure", "anchor": item_anchor, "title": title,
                                  "note": " ".join(notes).strip()})  # fmt: skip
                elif output.show:
                    if output.show == AS_WRITTEN:
                        table = table_as_written(shown.rows(output.needs[0]), *limit)
                    else:
                        table = resolve(output.show)(shown, *limit)
                    table = filled(table) if output.macro == "plain" else table
                    if table.rows:
                        items.append({"macro": output.macro, "anchor": f"{item_anchor}-table", "title": title,
                                      "note": note, "table": table})  # fmt: skip
        if items:
            filled_parts.append({
                "name": name, "anchor": f"{anchor}-{name}", "heading": part.heading.format_map(words), "finding": "",
                "intro": part.intro.format_map(words), "items": items,
            })  # fmt: skip
    return filled_parts
