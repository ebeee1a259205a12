"""docs/reference/results*.md and the captions against the declarations in the code; files that pages name."""

import re

from ragrelay.execution.study.files import result_files
from ragrelay.report.display.outputs import resolve

from tests.support.annex_cases import all_are_there
from tests.support.sandbox import ROOT
from tests.support.tools import load_tool

NAME = re.compile(r"`([\w<>/-]+\.(?:csv|parquet))`")
LINE = re.compile(r"^\| `(.+?)` \| .*? ?\| (.*) \|$", re.MULTILINE)


def test_the_pages_and_the_captions_are_current() -> None:
    tool = load_tool("result_files")
    pages = tool.pages()
    assert {path: path.read_text(encoding="utf-8") for path in pages} == pages, "run `make docs`"
    captions = {path: path.read_text(encoding="utf-8") for path in tool.present_captions()}
    assert captions == tool.captions(), "run `make docs`"


def test_every_column_says_what_it_is() -> None:
    declared = [resolve(file.columns) for file in result_files() if file.columns]
    assert len(declared) > 40
    assert all(column.about for columns in declared for column in columns.values())


def test_every_column_has_its_line_on_the_page() -> None:
    """Below its file, or in the table of columns that several files share."""
    tool = load_tool("result_files")
    shared, *pages = tool.pages().values()
    sections = [section for page in pages for section in page.split("\n## `")[1:]]
    common = dict(LINE.findall(shared))
    assert {"dataset", "qid", "low", "high"} <= set(common)
    declared = {file.path: tool.columns_of(file) for file in result_files()}
    assert len(sections) == len(declared)
    for section in sections:
        own = dict(LINE.findall(section))
        if own or ("\nColumns: " in section and "the same as in " not in section):
            columns = declared[section.split("`")[0]]
            assert {name: (common | own)[name].replace("\\|", "|") for name in columns} == {
                n: c.about for n, c in columns.items()
            }


def test_files_named_in_the_methods_exist() -> None:
    paths = [file.path.replace("{csv|parquet}", "csv") for file in result_files()]
    pages = ("methods", "error-rates")
    names = {name for page in pages for name in NAME.findall((ROOT / f"docs/{page}.md").read_text(encoding="utf-8"))}
    assert len(names) > 8
    endings = {name: re.sub(r"<(\w+)>", r"{\1}", name) for name in names}
    missing = {name for name, end in endings.items() if not any(f"/{path}".endswith(f"/{end}") for path in paths)}
    assert missing == set() or not all_are_there()
    assert len(names - missing) > 8
