"""Read and check templates for prompts that ask a judge about an answer: YAML data with named placeholders."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragrelay.prompting.templates import check_part, template_data

OPTIONAL = ("passage", "source", "swapped", "system")
PASSAGE = "[{i}] {text}\n"


@dataclass(frozen=True)
class JudgeTemplate:
    """``question`` has the placeholders of a kind of scorer, ``passage`` {i} and {text}: one of several passages.

    ``system`` is the system part of a chat, without placeholders. ``swapped`` is the question with its parts in another
    order, for bias checks only. Both are empty if the template has none.
    """

    question: str
    passage: str = PASSAGE
    system: str = ""
    swapped: str = ""

    def render(self, texts: Mapping[str, str | Sequence[str]]) -> str:
        """Return the prompt with the placeholders replaced by ``texts``. A sequence stands for several passages."""
        return self.question.format(
            **{name: text if isinstance(text, str) else self._passages(text) for name, text in texts.items()}
        )

    def _passages(self, texts: Iterable[str]) -> str:
        return "".join(self.passage.format(i=i, text=text) for i, text in enumerate(texts, start=1))


def load_judge_template(path: str | Path, placeholders: set[str]) -> JudgeTemplate:
    """Read a template whose question has these ``placeholders``.

    Raises InputError as ragrelay.prompting.templates.load_template does.
    """
    path = Path(path)
    data = template_data(path, ["question"], OPTIONAL)
    check_part(path, "question", data.get("question"), placeholders)
    if "swapped" in data:
        check_part(path, "swapped", data["swapped"], placeholders)
    for part, names in (("passage", {"i", "text"}), ("system", set[str]())):
        if part in data:
            check_part(path, part, data[part], names)
    parts = {part: data[part] for part in ("question", "passage", "swapped") if part in data}
    return JudgeTemplate(**parts, system=data["system"].format() if "system" in data else "")
