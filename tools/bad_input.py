"""Write docs/reference/bad-input*.md (`make docs`): each case of tests/support/bad_input_cases.py, really tried."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from tests.support.bad_input import end_of  # noqa: E402
from tests.support.bad_input_cases import CASES  # noqa: E402
from tests.support.snakemake_ends import ENDS, said  # noqa: E402
from tests.support.tiny_model import build_tiny_llama  # noqa: E402

HEAD = """\
# Error messages for bad input

Unusable input ends a run with a one-line message. The message gives the file, line or key, what ragrelay found, and
what it expected. `make docs` damages a small study in each of the ways listed here and records the messages; a test
keeps the pages up to date.

```text
ragrelay: error: small/queries.tsv, line 3: found no tab; expected qid<TAB>text
```

**When.** The column *when* says when the run ends:

- *start*: before any job, also in a dry run;
- *prepare_collection*: in a dataset's first job, which reads all the dataset's files and run files;
- *prepare_claims*: in a claims study's first job;
- *read_nuggets*, *label_by_file*: in the job that reads the file of nuggets or labels;
- *generate_answers*, *write_nuggets*, *judge_answers*: in the job that sends requests to the model, before it starts an
  engine.

If a retriever, scorer or model can't read a text's script, the job that first needs the text ends
([datasets](../datasets.md#languages-other-than-english)). No file is left half-written, and existing answers are kept.
At the end of a run, Snakemake repeats the messages of failed jobs under *Fix this*. If a model from a hub lacks a layer
or a tokenizer, the first job that loads the model reports this.

**Accepted.** Any file may have a byte-order mark, Windows line ends, blank lines and a last line without a line end.
Passages and runs may be compressed as `.gz`.

**Not noticed.** ragrelay doesn't notice if a text file, such as CSV, was cut exactly at the end of a line. It refuses
a file that was cut within a line if a column or a bracket is missing. It refuses a compressed file that was cut or
damaged anywhere, but notices damage in a `.zst` file only if the file has zstd's checksum. A flipped bit in a Parquet
file may go unnoticed as another value, because few Parquet files have checksums (pyarrow's `write_page_checksum`). If
the bit leaves no valid value, ragrelay refuses the file.

**Counted.** ragrelay counts the following and continues, because real collections contain them:

- queries without judgements, without a reference at a grade, without results, or with fewer than k;
- judgements and run lines for unknown queries, and judged or retrieved passages without text;
- passages and queries with unprintable or zero-width characters, such as a soft hyphen;
- queries and ranked passages that are missing from a file of labels, gold pages or passage quality. ragrelay refuses a
  file that has none of them; if the file has less than half of them, the page begins with a warning.

The counts are in the report's section *Left out* and in `report/left_out.json`, and for passage quality in
`predictions/quality.left_out.json`. The terminal and the page also warn about two kinds of queries: queries in a run
file whose scores rise with the rank, or are all equal although the ranks differ, and queries whose context contains the
passage with the query's id.

<!-- Written from tests/support/bad_input_cases.py by `make docs`. -->
"""


SNAKEMAKES = """
## Snakemake's own messages

Snakemake reads its options, the profile and the files after `--configfile` before ragrelay can check them. The mistakes
below end Snakemake itself, often with a traceback: read its last line. Snakemake doesn't name the line in the file; to
find the line, run `python -c "import sys, yaml; yaml.safe_load(open(sys.argv[1]))" my-study.yaml`.

ragrelay itself refuses YAML anchors that multiply lists or mappings up to a few million values, when the run starts.

| what is wrong | Snakemake's last line | remedy |
|---|---|---|
"""


PAGES = {
    "configuration": ("The configuration", ("config/config.yaml", "Configuration")),
    "models": ("Models, templates and the cache", ("Models, templates and the cache",)),
    "data": ("Queries, passages, judgements and runs", ("Queries", "Passages", "Judgements", "Runs")),
    "questions": ("Judges, nuggets, imported answers, labels and claims", ()),
}
"""Page → its title, and the groups of cases on it; the last has all others."""
MARK = "<!-- Written from tests/support/bad_input_cases.py by `make docs`. -->"


def pages(ends: dict[str, dict[str, tuple[str, str]]], snakemakes: dict[str, str]) -> dict[Path, str]:
    """Return the pages by their files, given each group's cases with (stage, message), and Snakemake's own messages."""
    placed = {group: name for name, (_, groups) in PAGES.items() for group in groups}
    of_page: dict[str, list[str]] = {name: [] for name in PAGES}
    for group in ends:
        of_page[placed.get(group, list(PAGES)[-1])].append(group)
    made, rows = {}, []
    for name, (title, _) in PAGES.items():
        parts = [f"# Error messages: {title[0].lower()}{title[1:]}\n\n{MARK}\n"]
        for group in of_page[name]:
            parts += [f"\n## {group}\n\n| what is wrong | when | message |\n|---|---|---|\n"]
            parts += [f"| {what} | {stage} | `{_cell(message)}` |\n" for what, (stage, message) in ends[group].items()]
        made[FOLDER / f"bad-input-{name}.md"] = "".join(parts)
        rows.append(f"| [{title}](bad-input-{name}.md) | {sum(len(ends[group]) for group in of_page[name])} |\n")
    parts = [HEAD, "\n| messages about | |\n|---|---|\n", *rows, SNAKEMAKES]
    parts += [f"| {end.what} | `{_cell(snakemakes[end.what])}` | {end.mend} |\n" for end in ENDS]
    return {FOLDER / "bad-input.md": "".join(parts)} | made


def ends_of_snakemake(folder: Path) -> dict[str, str]:
    """Try every fault that only Snakemake reports, below ``folder``; return fault → Snakemake's last line."""
    return {end.what: said(end, folder / f"snakemake{number}") for number, end in enumerate(ENDS)}


def ends_of_all(folder: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """Try every case below ``folder``; return group → fault → (stage, message)."""
    model = build_tiny_llama(folder / "model", window=512)
    folders = _folders(folder)
    return {group: {case.what: end_of(case, next(folders), model) for case in cases} for group, cases in CASES.items()}


def _folders(folder: Path) -> Iterator[Path]:
    number = 0
    while True:
        number += 1
        yield folder / str(number)


def _cell(message: str) -> str:
    return message.replace("|", "\\|").replace("`", "'")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for path, text in pages(ends_of_all(Path(folder)), ends_of_snakemake(Path(folder))).items():
            path.write_text(text, encoding="utf-8")
