"""Read and check templates (YAML files with named placeholders) for a judge's questions about an answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragrelay.prompting.templates import check_part, template_data

OPTIONAL = ("passage", "source", "swapped", "system")
PASSAGE = "[{i}] {text}\n"


@dataclass(frozen=True)
class JudgeTemplate:
    """A template for a judge's questions; ``passage`` is the format of each passage, with {i} and {text}.

    ``question`` has the scorer's placeholders. ``system`` is the chat's system message, without placeholders.
    ``swapped`` is the question with its parts in a different order and is only used for bias checks.
    """

    question: str
    passage: str = PASSAGE
    system: str = ""
    swapped: str = ""

    def render(self, texts: Mapping[str, str | Sequence[str]]) -> str:
        """Return the prompt with ``texts`` in place of placeholders; each text in a sequence becomes a passage."""
        return self.question.format(
            **{name: text if isinstance(text, str) else self._passages(text) for name, text in texts.items()}
        )

    def _passages(self, texts: Iterable[str]) -> str:
        return "".join(self.passage.format(i=i, text=text) for i, text in enumerate(texts, start=1))


def load_judge_template(path: str | Path, placeholders: set[str]) -> JudgeTemplate:
    """Read a template, and check that the question has the given ``placeholders``.

    Raises InputError if the file isn't a valid template.
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
