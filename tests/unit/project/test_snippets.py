"""Every Python snippet of README and docs runs as printed, in an interpreter that knows nothing of the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sandbox import ROOT

pytestmark = pytest.mark.process

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("*/*.md"))]
SNIPPETS = [
    (page, snippet)
    for page in PAGES
    for snippet in re.findall(
        r"^```(?:python|py)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
]
# What a page's snippet takes as given, as the text beside it says.
GIVEN = {
    "docs/bring-your-own-answers.md": f"""
import os
from pathlib import Path
import polars as pl
os.symlink({str(ROOT / "resources")!r}, "resources")
os.mkdir("answers")
folder = Path("results/demo/demo/utility/minilm")
folder.mkdir(parents=True)
pl.DataFrame({{"retriever": ["bm25"], "k": [2], "utility": [0.5]}}).write_parquet(folder / "demo-lm.parquet")
""",
}
COLUMNS = re.compile(r"^([\w.]+)  # (\w+(?:, \w+)+)$", re.MULTILINE)
"""A frame, and a comment that names its columns."""


@pytest.mark.parametrize(
    ("page", "snippet"), SNIPPETS, ids=[f"{page.stem}-{n}" for n, (page, _) in enumerate(SNIPPETS)]
)
def test_snippet_runs_as_printed(page: Path, snippet: str, tmp_path: Path) -> None:
    checks = [f"assert {frame}.columns == {columns.split(', ')}\n" for frame, columns in COLUMNS.findall(snippet)]
    (tmp_path / "snippet.py").write_text(GIVEN.get(str(page.relative_to(ROOT)), "") + snippet + "".join(checks))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    done = subprocess.run([sys.executable, "snippet.py"], cwd=tmp_path, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_library_is_among_them() -> None:
    assert any("import evaluate" in snippet and COLUMNS.search(snippet) for _, snippet in SNIPPETS)
