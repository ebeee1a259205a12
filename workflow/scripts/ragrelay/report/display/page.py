"""Render a study's pages: each is one HTML file with its styles, scripts, charts and tables, under a common header."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragrelay.report.display.charts import Spec
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.outputs import Output, Part
from ragrelay.report.display.page_parts import page_parts
from ragrelay.report.display.script_json import script_json
from ragrelay.report.display.templates import bundle, environment, inside

STYLES = ("page.css", "lead.css", "explorer.css", "print.css")
SCRIPTS = ("tables.js", "lead.js", "charts.js", "explorer.js")


@dataclass(frozen=True)
class Page:
    """A page of ``study``, which opens with a ``question`` and its ``answers``."""

    study: str
    question: str
    answers: Sequence[Conclusion]
    entries: Mapping[str, str]
    """Titles of the links to this page, by anchor; the first is the page itself."""
    notices: Sequence[str] = ()
    """What readers must know about its generators."""
    results: str = ".."
    """The folder of the study's results, relative to the page's."""
    charts: dict[str, Spec] = field(default_factory=dict)

    @property
    def title(self) -> str:
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
        """Return page_parts, and add their charts to the page's."""
        return page_parts(shown, outputs, parts, anchor, self.charts, most or {}, words or {}, of_queries)

    def html(self, template: Path, **shown: Any) -> str:
        """Render the page with ``template``, a block of ``base.html.j2``.

        All data is escaped: in text by Jinja, in scripts by ``script_json``.
        """
        return (
            environment(template.parent)
            .get_template(template.name)
            .render(
                page=self,
                style=inside(template.parent, *STYLES),
                script=inside(template.parent, *SCRIPTS),
                bundle=bundle(),
                charts=Markup(script_json(self.charts)),
                **shown,
            )
        )
