"""Write docs/reference/results*.md and the captions of Snakemake's report from the code's declarations: `make docs`."""

import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTIONS = ROOT / "workflow" / "report" / "captions"
FOLDER = ROOT / "docs" / "reference"
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from ragrelay.base.annex import annexes  # noqa: E402
from ragrelay.base.vocabulary.columns import STUDY_PART, Column  # noqa: E402
from ragrelay.base.vocabulary.study_file import StudyFile  # noqa: E402
from ragrelay.execution.study.files import result_files  # noqa: E402
from ragrelay.report import outputs as core  # noqa: E402
from ragrelay.report.display.outputs import resolve  # noqa: E402
from ragrelay.report.registry import OUTPUTS, RESULT_TABLES  # noqa: E402

HEAD = """# Results: every file and column

Paths are relative to `results/<study>/`. Names in braces are wildcards; `{a|b}` means `a` or `b`.
[Methods](../methods.md) explains the numbers.

**Columns.** The first columns of each analysis table name the table's dataset, generator and scorer, so you
can concatenate several tables with one line of Python:
`pl.concat(map(pl.read_csv, Path("results/my-study").glob("*/analysis/*/*/gain.csv")))`. A column without a unit
contains names, texts, booleans or plain numbers. The unit “the scorer's” is the unit of the scorer's P, which is a
score from 0 to 1 for the scorers that come with ragrelay, except `length`. Each file's columns are listed in order.
Some columns that appear in several files are described only in [the table at the
end](#columns-in-several-files).

**CSV files.** An empty field is a missing value. In CSV files below `report/` and `compare/`, ragrelay puts an
apostrophe before a text that begins with `=`, `+`, `-`, `@` or a tab and isn't a number, because a spreadsheet program
would treat such a text as a formula. Parquet files contain the unchanged text.

“Shown in” lists the report's figures and tables that are made from a file. To find the code that reads the file, see
[Architecture](../architecture.md#where-a-column-comes-from-and-who-reads-it).

<!-- Written from the declarations in the code by `make docs`. -->

"""
MARK = "<!-- Written from the declarations in the code by `make docs`. -->"
PAGES = {
    "passages": (
        "Queries, passages and prompts",
        r"\{dataset\}/(collection|runs|contexts|retrieval|prompts)/|indexes/",
    ),
    "answers": (
        "Answers and scores",
        r"\{dataset\}/(generated|answers|references|scored|judged|scores|nuggets|context_use|utility|described|"
        r"asked/(judge_answers|write_nuggets|check_judge|score_context_use))/|fetched/|converted/",
    ),
    "analysis": ("The analysis", r"\{dataset\}/analysis/(?!.*/prediction_|.*/intervention)|pooled"),
    "report": ("The report, plan and measurements", "report/|plan|benchmarks/"),
    "labels": ("Labels for passages", ".*annotation|.*/asked/(judge|check)_passages"),
    "predictions": ("Predictions", ".*prediction"),
    "claims": ("Claims", "acu/"),
    "people": ("Interventions and people's scores", ".*intervention|.*/people/|to_score/"),
    "others": ("Other targets and annexes", ""),
}
"""Page → its title, and a pattern of its files; each file is on the first that fits."""
WORDED = {
    "counts of queries without nuggets, of truncated lists, of a file's lists for unknown queries, and of nuggets for "
    "which the writer's probability for the words vital and okay is low":
        "counts of queries without nuggets, of truncated lists, of a file's lists for unknown queries, and of nuggets "
        "for which the writer gives the words vital and okay little probability",
    "a retriever's new passages, and their measure": "a retriever's new passages, and the value of the measure",
    "answers to single passages": "answers generated from single passages",
    "the job's time and memory, as measured by Snakemake": "a job's time and memory, as measured by Snakemake",
    "receipt: keys asked for, cached and made, in all and by part":
        "receipt: number of keys requested, already cached and newly generated, in total and per part",
    "receipt for processing a retriever's passages (the new texts are in the cache): contexts requested, cached and "
    "made, seconds, and whether processing a sample again gave the same texts":
        "receipt for processing a retriever's passages (the processed texts are in the cache): number of contexts "
        "requested, already cached and newly processed, the time in seconds, and whether a second run on a sample "
        "gave the same texts",
    "the stored answers that were drawn, and the same answers made again":
        "the drawn answers, both as stored and as regenerated",
    "agreement between answers over seeds, by a scorer":
        "agreement between answers to the same prompt with different seeds, according to a scorer",
    "agreement with a published table over its cells": "agreement with a published table, summarised over cells",
    "answers for people to score, drawn with known probabilities, with the existing scores; you can open the file in a "
    "spreadsheet program":
        "answers drawn for people to score, with the probability of each draw and existing scores; you can open the "
        "file in a spreadsheet program",
    "comparison of each predictor with the best one and with the retrieval measure":
        "comparison of each predictor with the cell's best predictor and with the retrieval measure",
    "correlation between measures from each source's labels and P, over the retrievers of one query":
        "correlation within queries between P and the measures computed from each source's labels, over retrievers",
    "correlation between measures from each source's labels and the end-to-end answers":
        "correlation between the measures computed from each source's labels and the quality of end-to-end answers",
    "correlation between predictors and P over the contexts of one query":
        "correlation within queries between predictors and P, over the contexts of each query",
    "correlation between the measure and P across the contexts that different retrievers give the same query":
        "correlation within queries between the measure and P, over the contexts from different retrievers",
    "counts of changed contexts over the window, and of missing answers, by reason":
        "numbers of changed contexts that exceed the window and of missing answers, by reason",
    "counts of contexts over the window, and of missing answers, by reason":
        "numbers of contexts that exceed the window and of missing answers, by reason",
    "cost of labels from the generator, compared with end-to-end answers":
        "cost of the generator's labels, compared with the cost of end-to-end answers",
    "each cell's best predictor, compared with the best of equally many predictors of pure noise":
        "best predictor in each cell, compared with the best of an equal number of pure-noise predictors",
    "effect of each removed or repeated passage on its query's P":
        "effect of removing or repeating each passage on the query's P",
    "estimated prompts, which the plan counts": "stand-in prompts, from which the plan estimates costs",
    "mean human score of all answers, with gains and differences, estimated from human scores of some answers and a "
    "scorer's scores of all of them":
        "mean human scores, gains and differences over all answers, estimated from human scores for some answers and a "
        "scorer's scores for all answers",
    "number of passages in contexts that the quality file lacks":
        "number of passages in contexts that are missing from the quality file",
    "P and utility with the context that each source's labels choose, compared with a random choice":
        "P and utility with the context chosen by each source's labels, compared with a random choice",
    "RO-Crate 1.1: each result file with its description and SHA-256, and the software":
        "RO-Crate 1.1 metadata: the description and SHA-256 of each result file, and the software used",
    "a cell in TREC RAG's format, as records of 2024 with the metadata of later years":
        "a cell in TREC RAG's format: records as in 2024, with the metadata of later years",
    "relay's slope if unjudged passages (holes) had other labels":
        "relay's slope under other labels for unjudged passages (holes)",
    "retrieval measures by human labels over all queries, estimated from human labels of a random sample of queries "
    "and a source's labels of all queries":
        "retrieval measures based on human labels, estimated for all queries from human labels for a random sample of "
        "queries and a source's labels for all queries",
    "retrieval measures from all sources' labels": "retrieval measures computed from each source's labels",
    "retrieval measures of each query": "retrieval measures for each query",
    "the answers to these prompts": "the answers to the prompts with changed contexts",
    "the changed prompts for these checks": "the changed prompts for a passage judge's bias checks",
    "the judgements for these queries; for a passage judged on several subtopics, the highest label":
        "the judgements for the queries in `queries.parquet`; for a passage judged on several subtopics, the highest "
        "label",
    "the method that found the entities": "the method used to find entities",
    "the number of passages in a context with all rounds, and the generator's window in tokens":
        "the number of passages in a context after all rounds, and the generator's window in tokens",
    "the paper's three findings as tests on this study's queries":
        "tests of the paper's three findings on this study's queries",
    "the round's queries, and the passages shown before it":
        "the round's queries, and the passages shown before the round",
    "the same answers, as one JSON object per line with these columns as keys":
        "a generator's answers as JSON lines, with the columns of `answers.parquet` as keys",
    "the same table with the receipts; after the next run, the provenance and the page show it too":
        "the contents of `recheck.csv` and the receipts; after the next run, the provenance and the page show them "
        "too",
    "the scores of a passage judge's checks": "the scores from a passage judge's bias checks",
    "the scores of these answers": "the scores of the answers",
    "the scores of the stored and the new answers with the first reference set":
        "the scores of the stored and the regenerated answers, computed with the first reference set",
    "TREC run: qid, Q0, docno, rank from 1, score, the retriever's name; with `run_metadata`, an ir_metadata header in "
    "comments comes first":
        "TREC run with the fields qid, Q0, docno, rank (from 1), score and the retriever's name; with `run_metadata`, "
        "the file begins with an ir_metadata header in comments",
    "receipt for the corpus's word statistics, which the cache stores":
        "receipt for the corpus's word statistics, which are stored in the cache",
    "the engines, versions, devices and settings behind the stored and the new answers":
        "the engines, versions, devices and settings with which the stored and the regenerated answers were generated",
    "how much a judge's scores depend on the order of its input and on the answer's length":
        "how much a judge's scores depend on the order of the judge's input and on the answer's length",
    "how much a judge's labels depend on the order of its input and on passage length":
        "how much a judge's labels depend on the order of the judge's input and on the passage's length",
    "the reference set's name; `…-unseen` excludes all passages that any of the intervention's contexts for the query "
    "shows at that k, so that all these contexts share one set":
        "name of the reference set; a set whose name ends in `-unseen` excludes all passages that appear in any of the "
        "intervention's contexts for the query at the same k, so that these contexts share one set",
    "the retriever's name; empty if the retriever is chosen":
        "name of the retriever; empty if the policy chooses the retriever",
    "passages in the context; empty if k is chosen": "number of passages in the context; empty if the policy chooses k",
    "the judgement's label; empty if the passage is unjudged":
        "the passage's label in the judgements; empty if the passage is unjudged",
    "the judgement's grade; empty if the passage is unjudged":
        "the passage's label in the judgements; empty if the passage is unjudged",
    "the passage's grade; empty if unjudged": "the passage's label in the judgements; empty if the passage is unjudged",
    "prompt tokens of the stored answer": "number of tokens in the stored answer's prompt",
    "prompt tokens of the answer made again": "number of tokens in the regenerated answer's prompt",
    "tokens of the stored answer": "number of tokens in the stored answer",
    "tokens of the answer made again": "number of tokens in the regenerated answer",
    "differences in thought length (tokens) from thoughts without context and with another retriever, paired by query":
        "differences in thought length (in tokens) from no context and from another retriever, paired by query",
    "P, lists and tokens in each round, by the retriever that returned the round's list":
        "P, ranked lists and tokens in each round, for each retriever whose list was used in the round",
    "a list of the study's pages for the links in their headers, written when a run ends":
        "a list of the study's pages, for the links in page headers; written when a run ends",
    "the plan's time, its total (which the key `budget` limits), and the numbers of shards for `shards: auto`":
        "the time at which the plan was made, the plan's total (which the key `budget` limits), and the numbers of "
        "shards for `shards: auto`",
    "receipt for generation": "receipt for the generated answers, which are in the cache",
    "a model's labels": "labels from a judge",
    "r of each measure": "correlation between differences in P and in each measure",
    "Thought tokens against k": "Thought length in tokens, against k",
    "Within queries: correlation between measures from each source’s labels and P, over the retrievers of one query":
        "Correlation within queries between measures from each source’s labels and P, over retrievers",
    "P per 1 of the measure": "P per unit of the measure",
    "the scorer's; relay: P per 1 of the measure": "the scorer's; for `relay`: P per unit of the measure",
    "the scorer's unit; for relay: P per 1 of the measure": "the scorer's; for `relay`: P per unit of the measure",
    "win rate per 1 of the measure": "win rate per unit of the measure",
}  # fmt: skip
"""How pages word descriptions and units that are part of jobs' code, whose change would run the jobs again."""
PHRASES = {
    "unjudged or judged in between": "unjudged or whose label lies between non-relevant and relevant",
    "the answer made again": "the regenerated answer",
    "ended, or is missing": "ended, or why it is missing",
    "answers to `each passage alone` at": "answers from single passages at",
    "answers `end to end` with": "end-to-end answers with",
    "in each cell and quantity": "for each cell and quantity",
    "systems, and its biases": "systems, and the scorer's biases",
    "by human labels over all queries, estimated from": "based on human labels, estimated for all queries from",
    "orrelation against k, by measure": "orrelation with P or utility against k, by measure",
}
"""Likewise, for phrases in several descriptions."""
SMALL = ("eRAG", "r of")
"""Beginnings of descriptions that keep their small letter."""
TABLE = "| column | unit | meaning |\n|---|---|---|\n"


def columns_of(file: StudyFile) -> dict[str, Column]:
    """Columns of a table by name, in order; none where it is no table."""
    declared = resolve(file.columns) if file.columns else {}
    return {**STUDY_PART, **declared} if file.part else declared


def worded(text: str) -> str:
    """Return how pages word a description or unit."""
    text = WORDED.get(text, text)
    for phrase, better in PHRASES.items():
        text = text.replace(phrase, better)
    return text


def rows_of(columns: dict[str, Column]) -> dict[str, str]:
    """Return a line of the table for each column."""
    bar = "\\|"
    return {
        name: f"| `{name}` | {worded(column.unit)} | {worded(column.about).replace('|', bar)} |\n"
        for name, column in columns.items()
    }


def common_rows() -> dict[str, str]:
    """Return lines that three or more tables share, by column name, if most tables with that column mean the same."""
    declared = {file.columns: columns_of(file) for file in result_files()}
    rows = Counter(row for columns in declared.values() for row in rows_of(columns).items())
    names = Counter(name for columns in declared.values() for name in columns)
    return {name: row for (name, row), count in rows.items() if count > max(2, names[name] / 2)}


def page_of(path: str) -> str:
    """Return the name of the page with the file at ``path``."""
    return next(name for name, (_, pattern) in PAGES.items() if re.match(pattern, path))


def pages() -> dict[Path, str]:
    """Return the index with the columns in several files, and the pages, by their files."""
    common = common_rows()
    shown: dict[str, str] = {}
    shown_by = {table.path: name for name, table in RESULT_TABLES.items()}
    parts = {name: [f"# Results: {title[0].lower()}{title[1:]}\n\n{MARK}\n"] for name, (title, _) in PAGES.items()}
    listed: dict[str, list[str]] = {name: [] for name in PAGES}
    for file in result_files():
        page = page_of(file.path)
        *others, last = [name if " " in name else f"`{name}`" for name in file.rule.split(", ")]
        rules = f"{', '.join(others)} or {last}" if others else last
        made = "Not written by a rule" if file.rule == "no rule" else f"Written by {rules}"
        words = worded(file.about)
        first = words[0] if words.startswith(SMALL) else words[0].upper()
        about = f"{first}{words[1:]}. {made}."
        if outputs := [f"`{output.name}`" for output in OUTPUTS if shown_by.get(file.path) in output.needs]:
            about += f" Shown in {', '.join(dict.fromkeys(outputs))}."
        parts[page].append(f"## `{file.path}`\n\n{about}\n")
        listed[page].append(file.path)
        columns = columns_of(file)
        if file.columns in shown:
            declared = resolve(file.columns)
            added = [f"`{name}`" for name in columns if name not in declared]
            before = f"{', '.join(added)}, then " if added else ""
            there = shown[file.columns]
            same = (
                f"`{there}`" if page_of(there) == page else f"[`{there}`](results-{page_of(there)}.md#{_anchor(there)})"
            )
            parts[page].append(f"Columns: {before}the same as in {same}.\n")
        elif columns:
            shown[file.columns] = file.path
            own = {name: row for name, row in rows_of(columns).items() if common.get(name) != row}
            parts[page].append(f"Columns: {', '.join(f'`{name}`' for name in columns)}.\n")
            parts[page] += [TABLE + "".join(own.values())] if own else []
    rows = [
        f"| [{title}](results-{name}.md) | {', '.join(dict.fromkeys(f'`{_folder(path)}`' for path in listed[name]))} |"
        for name, (title, _) in PAGES.items()
    ]
    index = [HEAD + "| page | files |\n|---|---|", *rows, "", "## Columns in several files", ""]
    written = {FOLDER / "results.md": "\n".join(index) + "\n" + TABLE + "".join(sorted(common.values()))}
    return written | {FOLDER / f"results-{name}.md": "\n".join(text) for name, text in parts.items()}


def _folder(path: str) -> str:
    """Return the path's first two folders, or the file."""
    first, _, rest = path.removeprefix("{dataset}/").partition("/")
    below = "{dataset}/" if path.startswith("{dataset}/") else ""
    return f"{below}{first}/" if rest else f"{below}{first}"


def _anchor(path: str) -> str:
    return re.sub(r"[^\w -]", "", path.lower())


def captions() -> dict[Path, str]:
    """Return captions as reStructuredText, by their file. Outputs of one kind and name share one."""
    of_annexes = {annex.folder / "captions": annex.outputs for annex in annexes()}
    texts: dict[Path, list[str]] = {}
    for folder, outputs in {CAPTIONS: core.OUTPUTS, **of_annexes}.items():
        for output in outputs:
            if output.endings:
                path = folder / f"{output.kind}_{output.name}.rst"
                texts.setdefault(path, []).append(textwrap.fill(output.caption, 120))
    return {path: "\n\n".join(found) + "\n" for path, found in texts.items()}


def present_captions() -> list[Path]:
    """Return the files of captions that there are."""
    folders = [CAPTIONS, *(annex.folder / "captions" for annex in annexes())]
    return [path for folder in folders for kind in ("figure", "table") for path in folder.glob(f"{kind}_*.rst")]


def main() -> None:
    made = captions()
    for path in present_captions():
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
