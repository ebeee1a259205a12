"""Write docs/reference/bad-input.md (`make docs`): the cases of tests/support/bad_input_cases.py, each really tried."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "bad-input.md"
sys.path[:0] = [str(ROOT), str(ROOT / "workflow" / "scripts")]

from tests.support.bad_input import end_of  # noqa: E402
from tests.support.bad_input_cases import CASES  # noqa: E402
from tests.support.snakemake_ends import ENDS, said  # noqa: E402
from tests.support.tiny_model import build_tiny_llama  # noqa: E402

HEAD = """\
# Error messages for bad input

Input that cannot be used ends a run with one line: the file, line or key, what was found, and what was expected. `make
docs` writes this page by spoiling a small study in each of these ways; a test keeps it up to date.

```text
ragrelay: error: small/queries.tsv, line 3: found no tab; expected qid<TAB>text
```

**When.** *start*: before any job, in a dry run too. *prepare_collection*: in the first job of a dataset, which reads
all of its files and its run files. *prepare_claims*: in the first job of a claims study. *read_nuggets* and
*label_by_file*: in the job that reads a file of nuggets or of labels. *generate_answers* and *write_nuggets*: in a job
that generates, and *judge_answers*: in a job that asks a judge, before it starts an engine. Texts in a script that a
retriever, scorer or model does not read end the job that indexes or ranks passages, prepares references or scores
answers ([datasets](../datasets.md#languages-other-than-english) says which). No file is left
half-written, and existing answers are kept. At the end of a run, Snakemake repeats the messages of failed jobs under
*Fix this*. If a hub's model has no such layer or no tokenizer, the first job that loads it reports that.

**Accepted:** a byte-order mark, Windows line ends and blank lines in any of the files, a last line without a line end,
`.gz` passages and runs.

**Not noticed:** a plain text file, CSV among them, that was cut at the end of a line: it is a whole, shorter file. One
that was cut within a line is refused if a column or a bracket is missing. A compressed file is refused wherever it was
cut or a bit has flipped, though a `.zst` file needs zstd's checksum for the latter.
A flipped bit in a Parquet file may give another value, since few are written with checksums (as pyarrow's
`write_page_checksum` does); one that gives no value is refused.

**Counted, not refused**, since real collections are like this: queries without judgements or without a reference at a
grade, judgements of unknown queries, judged or retrieved passages without text, queries without results or with fewer
than k; passages and queries with characters that cannot be printed (blanks apart) or have no width, such as a soft
hyphen or a joiner of letters, in their text; lines of a run file for other queries. The report's section *Left out* has
the counts, as has `report/left_out.json`. The terminal and the page also warn of queries of a run file whose scores are
all equal though their ranks differ, or rise with the rank somewhere, and of queries with the passage of their own id in
the context. So it is with queries and ranked passages that a file of
labels or of gold pages does not have, and with passages that a file of quality does not have (counted in
`predictions/quality.left_out.json`): one that has none is refused, and where it has less than half, the page begins
with a warning.

<!-- Written from tests/support/bad_input_cases.py by `make docs`. -->
"""


SNAKEMAKES = """
## Snakemake's own messages

Snakemake reads the options, the profile and the files of `--configfile` before the workflow, which therefore cannot
check them. It ends on the following by itself, often with a traceback; the last line is the one to read. It names no
line of the file: for an overlay, `python -c "import sys, yaml; yaml.safe_load(open(sys.argv[1]))" my-study.yaml` does.

Anchors within anchors that multiply lists, or mappings up to a few million, are refused at the start as above.

| what is wrong | Snakemake's last line | what you do |
|---|---|---|
"""


def page(ends: dict[str, dict[str, tuple[str, str]]], snakemakes: dict[str, str]) -> str:
    """Return the page, given each group's cases with (stage, message), and Snakemake's own messages."""
    parts = [HEAD]
    for group, found in ends.items():
        parts += [f"\n## {group}\n\n| what is wrong | when | message |\n|---|---|---|\n"]
        parts += [f"| {what} | {stage} | `{_cell(message)}` |\n" for what, (stage, message) in found.items()]
    parts.append(SNAKEMAKES)
    parts += [f"| {end.what} | `{_cell(snakemakes[end.what])}` | {end.mend} |\n" for end in ENDS]
    return "".join(parts)


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
        found = page(ends_of_all(Path(folder)), ends_of_snakemake(Path(folder)))
        PAGE.write_text(found, encoding="utf-8")
