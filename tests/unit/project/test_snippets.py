"""Every Python snippet of README and docs runs as printed, in an interpreter that knows nothing of the tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sandbox import ROOT
from tests.support.tracked import tracked

pytestmark = pytest.mark.process

PAGES = tracked("README.md", "*/*.md")
SNIPPETS = [
    (page, snippet)
    for page in PAGES
    for snippet in re.findall(
        r"^```(?:python|py)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
]
# What a page's snippet takes as given, as the text beside it says.
GIVEN = {
    "docs/extensions.md": f"import sys; sys.path.append({str(ROOT / 'tests/support/a_lab')!r})\n",
    "docs/bring-your-own-answers.md": f"""
import os
from pathlib import Path
import polars as pl
os.symlink({str(ROOT / "resources")!r}, "resources")
os.mkdir("answers")
folder = Path("results/demo_real/demo/utility/minilm")
folder.mkdir(parents=True)
pl.DataFrame({{"retriever": ["bm25"], "k": [3], "utility": [0.5]}}).write_parquet(folder / "smollm2.parquet")
""",
    "docs/datasets.md": """
import gzip, json, os
from pathlib import Path
for name in ("segments", "runs"):
    os.mkdir(name)
with gzip.open("segments/0.json.gz", "wt") as file:
    for docid in ("a#1", "b#2", "c#3"):
        file.write(json.dumps({"docid": docid, "url": "", "segment": f"text of {docid}"}) + "\\n")
Path("qrels.txt").write_text("2024-1 0 a#1 3\\n")
Path("runs/mine.run").write_text("2024-1 Q0 b#2 1 0.5 mine\\n")
Path("topics.tsv").write_text("2024-1\\twhy tea\\n")
paragraphs = [{"idx": n, "title": f"T{n}", "paragraph_text": "tea", "is_supporting": n == 1} for n in range(2)]
row = {"id": "2hop__1", "question": "which tea", "answer": "green", "answer_aliases": ["Green tea"],
       "paragraphs": paragraphs, "answerable": True}
Path("musique_ans_v1.0_dev.jsonl").write_text(json.dumps(row) + "\\n")
note = {"knowledge": [{"content": "tea is a leaf", "wikipage": "Tea"}], "long_answer": "A leaf."}
pair = {"context": "No context provided", "question": "q", "short_answers": ["leaf"], "wikipage": None}
asqa = {"dev": {"-77": {"ambiguous_question": "what is tea", "annotations": [note], "qa_pairs": [pair]}}, "train": {}}
Path("ASQA.json").write_text(json.dumps(asqa))
""",
}
AFTER = {
    "docs/extensions.md": "assert Brevity(most=2).pair()('one two three four', '') == 0.5\n",
    "docs/datasets.md": """
from ragrelay.collection.local import LocalCollection
read = LocalCollection(out)
assert read.queries().height == 1 and set(read.qrels()["docno"]) <= {row["docno"] for row in read.passages()}
assert max(read.qrels()["label"]) > 0
assert len(list(read.passages())) == {"trec-rag-2024": 2, "musique": 2, "asqa": 1}[out.name]
""",
}
"""What is to hold then."""
COLUMNS = re.compile(r"^([\w.]+)  # (\w+(?:, \w+)+)$", re.MULTILINE)
"""A frame, and a comment that names its columns."""


@pytest.mark.parametrize(
    ("page", "snippet"), SNIPPETS, ids=[f"{page.stem}-{n}" for n, (page, _) in enumerate(SNIPPETS)]
)
def test_snippet_runs_as_printed(page: Path, snippet: str, tmp_path: Path) -> None:
    checks = [f"assert {frame}.columns == {columns.split(', ')}\n" for frame, columns in COLUMNS.findall(snippet)]
    name = str(page.relative_to(ROOT))
    (tmp_path / "snippet.py").write_text(GIVEN.get(name, "") + snippet + AFTER.get(name, "") + "".join(checks))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    done = subprocess.run([sys.executable, "snippet.py"], cwd=tmp_path, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_library_is_among_them() -> None:
    assert any("import evaluate" in snippet and COLUMNS.search(snippet) for _, snippet in SNIPPETS)
