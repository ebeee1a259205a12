"""The outputs of a registry on a page: parts with their headings, each with its figures and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragrelay.display.charts import Spec
from ragrelay.display.outputs import Figure, Output, Part, resolve
from ragrelay.display.packing import packed
from ragrelay.display.tables import filled

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
    """What the macro ``parts`` is filled with: anchor, heading, intro and items of each part that has any.

    ``outputs`` are drawn of ``shown``, their charts added to ``charts``; those without a record or row are left out.
    ``most``: of Figure and Table, about how many records a limited one may show. ``words`` fill in titles and notes;
    ``of_queries`` is said of figures whose points are queries.
    """
    made = []
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
                    said = [SAMPLED] if spec.get("usermeta", {}).get("sampled") else []
                    said += [of_queries] if output.queries and of_queries else []
                    charts[item_anchor] = packed(spec)
                    items.append({"macro": "figure", "anchor": item_anchor, "title": title,
                                  "note": " ".join([note, *said]).strip()})  # fmt: skip
                elif output.show:
                    table = resolve(output.show)(shown, *limit)
                    table = filled(table) if output.macro == "plain" else table
                    if table.rows:
                        items.append({"macro": output.macro, "anchor": f"{item_anchor}-table", "title": title,
                                      "note": note, "table": table})  # fmt: skip
        if items:
            made.append({"name": name, "anchor": f"{anchor}-{name}", "heading": part.heading.format_map(words),
                         "finding": "", "intro": part.intro.format_map(words), "items": items})  # fmt: skip
    return made
