"""Write docs/reference/reproduce-the-papers.md from resources/published/rows.csv: `make docs`."""

import csv
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = ROOT / "resources" / "published" / "rows.csv"
PAGE = ROOT / "docs" / "reference" / "reproduce-the-papers.md"
STATES = ("as printed", "differs", "out of reach")
COLUMNS = "| | what | command | needs | GPU-hours | state | where |"
HEAD = """# Reproduce the papers

For every table and figure of four papers: the command, what it needs, where the result is, and how it differs from
print.

- *as printed*: the same quantities, from the same data, by the same method;
- *differs*: the same quantities, but the reason that is given changes their values;
- *out of reach*: ragrelay does not make it.

None of these studies has been run at full size here. **GPU-hours** are estimates for one H200, to be read as orders of
magnitude:

- The target `plan` counted prompts and tokens of each study on a stand-in: the 43 queries of TREC DL 2019, with
  passages of 102 words in the place of Wikipedia's, and the demo's claims. The counts were then multiplied by the
  ratio of queries (6,980 of dev small; 24,240 of KILT's validation sets, and 3,054 of Wizard of Wikipedia; 6,515 of
  DPR's dev set) or of pairs (5,490 of DRUID).
- There will be fewer tokens: answers are taken to be as long as `max_tokens` allows, and the demo's tokenizer makes
  more tokens of a text than Llama's.
- The speed is the highest: 66,000 prompt tokens per second, without those from the prefix cache, or 24,000 answer
  tokens, by TensorRT-LLM's published throughput of Llama 3.1 8B in FP8 with full batches. Hagström et al.'s models are
  in float32, which is slower.
- Engine starts, encoding a collection, reranking and BERTScore are not included.

For your machine, put the target `plan` in the place of the command's own. Paths are below `results/<study>/`. The
target `reproduce` compares a study with the printed values in
[resources/published](../../resources/published/README.md).

More on each paper's setup: [Tian et al. 2025](../reproduce-the-paper.md),
[Salemi and Zamani 2024](../reproduce-erag.md), [Hagström et al. 2025](../reproduce-acu.md),
[Tian et al. 2026](../predict.md#tian-et-al-2026-and-this-study). The rows of Tian et al. 2026 and of Hagström et al.'s
appendices follow their public code.

<!-- Written from resources/published/rows.csv by `make docs`. -->
"""


def read(path: Path = ROWS) -> list[dict[str, str]]:
    """A row per table or figure: paper, item, about, command, needs, gpu_hours, state, because, place, printed."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def page(rows: list[dict[str, str]]) -> str:
    """Return the page: a table per paper, and its commands below."""
    parts = [HEAD]
    for paper in dict.fromkeys(row["paper"] for row in rows):
        own = [row for row in rows if row["paper"] == paper]
        commands = list(dict.fromkeys(row["command"] for row in own if row["command"]))
        parts.append(
            f"## {paper}\n\n| | what | command | needs | GPU-hours | state | where |\n|---|---|---|---|---|---|---|"
        )
        for row in own:
            number = f"({commands.index(row['command']) + 1})" if row["command"] else ""
            state = f"{row['state']}: {row['because']}" if row["because"] else row["state"]
            places = "; ".join(map(_code, row["place"].split("; "))) if row["place"] else ""
            cells = (row["item"], row["about"], number, row["needs"], row["gpu_hours"], state, places)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
        parts += [f"({place}) `{command}`\n" for place, command in enumerate(commands, 1)]
    return "\n".join(parts)


def _code(place: str) -> str:
    path, _, rest = place.partition(" ")
    return f"`{path}` {rest}".strip() if "/" in path else place


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
