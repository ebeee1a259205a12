"""Render a study's pages as self-contained HTML files (styles, scripts, charts and tables) with a shared header."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.report.display.charts import Spec
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.outputs import AS_WRITTEN, Figure, Output, Part, Table, resolve
from ragrelay.report.display.palette import Look
from ragrelay.report.display.script_json import script_json
from ragrelay.report.display.tables import filled, table_as_written
from ragrelay.report.display.templates import FOLDER, bundle, environment, inside

STYLES = ("page.css", "lead.css", "explorer.css", "toolbox.css", "print.css")
SCRIPTS = ("toolbox.js", "tables.js", "lead.js", "charts.js", "saving.js", "explorer.js")
SAMPLED = "The figure shows an evenly spaced sample of the queries; statistics use all queries."


@dataclass(frozen=True)
class Page:
    """An HTML page about a study, with a question and answers at the top."""

    study: str
    """The study's name, for the page's title."""
    question: str
    """The question at the top."""
    answers: Sequence[Conclusion]
    """The answers to the question."""
    entries: Mapping[str, str]
    """Titles for the links to this page, keyed by anchor; the first links to the page itself."""
    notices: Sequence[str] = ()
    """Facts about the study's generators that readers must know."""
    results: str = ".."
    """The folder with the study's results, relative to the page's folder."""
    charts: dict[str, Spec] = field(default_factory=dict)
    """Chart specifications by anchor; ``parts`` adds to them."""
    retrievers: Mapping[str, Look] = field(default_factory=dict)
    """The retrievers that readers may highlight, hide and rename."""

    @property
    def title(self) -> str:
        """The page's title, composed of the first answer (without numbers), the study's name and "ragrelay"."""
        return " – ".join([*(answer.strong for answer in self.answers[:1]), self.study, "ragrelay"])

    def parts(
        self,
        shown: Any,
        outputs: Sequence[Output],
        parts: Mapping[str, Part],
        anchor: str,
        most: Mapping[type[Any], int] | None = None,
        words: Mapping[str, str] | None = None,
        of_queries: str = "",
    ) -> list[dict[str, Any]]:
        """Draw the figures and tables for the given parts of the page, and store the figures in ``charts``.

        Args:
            shown: The data that figures and tables show.
            outputs: The figures and tables.
            parts: Headings and introductions, keyed by the part's name.
            anchor: The prefix of all anchors.
            most: The maximum number of records in a figure (approximate) and of rows in a table, if limited.
            words: Values for placeholders in headings, titles and notes.
            of_queries: A sentence added to the notes of figures whose points are queries.

        Returns:
            Values for the template's macro ``parts``: each part's anchor, heading, introduction and items.
        """
        return page_parts(shown, outputs, parts, anchor, self.charts, most or {}, words or {}, of_queries)

    def units(
        self,
        name: str,
        studies: Sequence[Any],
        answer: Callable[[Any], Conclusion],
        sentences: Callable[[Any], Sequence[str]],
        outputs: Sequence[Output],
        parts: Mapping[str, Part],
        most_rows: int,
    ) -> list[dict[str, Any]]:
        """Draw the same parts of the page for each of several studies.

        Args:
            name: The prefix of all anchors.
            studies: For each study, an object that contains the data and has a ``title``.
            answer: Returns a study's answer.
            sentences: Returns a study's sentences.
            outputs: The figures and tables.
            parts: Headings and introductions, keyed by the part's name.
            most_rows: The page's maximum number of rows; a table's maximum is most_rows / 6 / (number of studies).

        Returns:
            For each study, the template's values: anchor, where (the study's title), answer, sentences and parts.
        """
        most = {Table: most_rows // 6 // len(studies)}
        return [
            {
                "anchor": f"{name}{place}",
                "where": study.title,
                "answer": answer(study),
                "sentences": sentences(study),
                "parts": self.parts(study, outputs, parts, f"{name}{place}", most),
            }
            for place, study in enumerate(studies, 1)
        ]

    def html(self, template: Path, **shown: Any) -> str:
        """Render the page.

        All data is escaped, by Jinja in text and by ``script_json`` in scripts.

        Args:
            template: The path of a template that extends ``base.html.j2``.
            **shown: The template's variables.

        Returns:
            The HTML file's text.
        """
        return (
            environment(template.parent)
            .get_template(template.name)
            .render(
                page=self,
                style=inside(FOLDER, *STYLES),
                script=inside(FOLDER, *SCRIPTS),
                bundle=bundle(),
                charts=Markup(script_json(self.charts)),
                retrievers=Markup(script_json([(name, look.colour) for name, look in self.retrievers.items()])),
                **shown,
            )
        )


def page_parts(
    shown: Any,
    outputs: Sequence[Output],
    parts: Mapping[str, Part],
    anchor: str,
    charts: dict[str, Spec],
    most: Mapping[type[object], int],
    words: Mapping[str, str],
    of_queries: str = "",
) -> list[dict[str, Any]]:
    """Draw ``outputs`` from the data ``shown``, add charts to ``charts``, and return values for the macro ``parts``.

    Each part has an anchor, a heading, an introduction and items; parts without items, and figures and tables without
    data, are left out. ``most``: the maximum number of records in a figure (approximate) and of rows in a table.
    ``words``: values for placeholders. ``of_queries``: a sentence for the notes of figures whose points are queries.
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
                "counted": "", "intro": part.intro.format_map(words), "items": items,
            })  # fmt: skip
    return filled_parts


def packed(spec: Spec) -> Spec:
    """Return ``spec`` with the data stored by column, to save space. ``unpack`` in page.js restores the rows.

    A column is ``{"values": [...]}`` or, if values repeat, ``{"words": [...], "places": [...]}``: unique values and the
    index of each row's value.
    """
    rows = spec["data"]["values"]
    names = dict.fromkeys(name for row in rows for name in row)
    return spec | {"data": {"columns": {name: _column([row.get(name) for row in rows]) for name in names}}}


def _column(values: list[object]) -> dict[str, object]:
    words = list(dict.fromkeys(values))
    if len(words) * 2 > len(values):
        return {"values": values}
    places = {word: place for place, word in enumerate(words)}
    return {"words": words, "places": [places[value] for value in values]}
