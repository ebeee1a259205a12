"""Read templates (YAML files with named placeholders) for prompts that ask for nugget lists."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragrelay.prompting.templates import check_part, template_data

PLACEHOLDERS = {
    "list": {"query", "contexts", "nuggets", "most"},
    "context": {"i", "text"},
    "importance": {"query", "nugget"},
}
OPTIONAL = ("source", "system")


@dataclass(frozen=True)
class NuggetTemplate:
    """A template for two prompts, one for a nugget list (``list``) and one for a nugget's importance (``importance``).

    ``list`` has the placeholders {query}, {contexts} (passages in the format ``context``, which has {i} and {text}),
    {nuggets} (the list so far) and {most}. ``importance`` has {query} and {nugget}. ``system`` has no placeholders.
    """

    list: str
    context: str
    importance: str
    system: str = ""

    def ask_list(self, query: str, passages: Sequence[str], nuggets: Sequence[str], most: int) -> str:
        """Return the prompt for a list of at most ``most`` nuggets, given ``passages`` and the ``nuggets`` so far."""
        contexts = "".join(self.context.format(i=i, text=text) for i, text in enumerate(passages, start=1))
        so_far = json.dumps(list(nuggets), ensure_ascii=False)
        return self.list.format(query=query, contexts=contexts, nuggets=so_far, most=most)

    def ask_importance(self, query: str, nugget: str) -> str:
        """Return the prompt that asks how important a nugget is."""
        return self.importance.format(query=query, nugget=nugget)


def load_nugget_template(path: str | Path) -> NuggetTemplate:
    """Read a nugget template. Raises InputError if the file isn't a valid template."""
    path = Path(path)
    data = template_data(path, list(PLACEHOLDERS), OPTIONAL)
    for part, names in PLACEHOLDERS.items():
        check_part(path, part, data.get(part), names)
    if "system" in data:
        check_part(path, "system", data["system"], set())
    system = data["system"].format() if "system" in data else ""
    return NuggetTemplate(**{part: data[part] for part in PLACEHOLDERS}, system=system)
