"""What Snakemake's main process loads: it starts without libraries that only jobs need, and quickly."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions

from tests.support.rule_files import RULE_FILES
from tests.support.sandbox import ROOT

ALLOWED = {"ragrelay", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
"""Packages that an annex may import as it is loaded."""
OF_JOBS = {
    "altair", "bm25s", "datasets", "ir_datasets", "matplotlib", "openai", "pandas", "pyterrier", "pyterrier_pisa",
    "sacrebleu", "scipy", "sentence_transformers", "sklearn", "spacy", "torch", "transformers", "vllm",
}  # fmt: skip
"""Packages that only jobs import, and checks of what needs them."""
BLOCKED = """
import sys

MISSING = {missing!r}


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {{name!r}} in this test", name=name)


for name in [name for name in sys.modules if name.partition(".")[0] in MISSING]:
    del sys.modules[name]
sys.path.insert(0, {scripts!r})
sys.meta_path.insert(0, Blocked())
"""
LOADED = "\nfrom ragrelay.base.annex import annexes\nprint(*[annex.name for annex in annexes()])\n"


def run_without(missing: set[str], code: str, before: str = "") -> str:
    """Run Python ``code`` as if packages were ``missing``; ``before``: imports of others that have them."""
    start = before + BLOCKED.format(missing=missing, scripts=str(ROOT / "workflow/scripts"))
    done = subprocess.run([sys.executable, "-c", start + code], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_loading_all_annexes_imports_no_data_library() -> None:
    present = {path.parent.name for path in (ROOT / "workflow/scripts/ragrelay/annexes").glob("*/annex.py")}
    others = {*packages_distributions()} - ALLOWED
    assert {"numpy", "pandas", "polars", "pyarrow", "scipy", "torch"} < others
    loaded = run_without(others, LOADED)
    assert set(loaded.split()) == present


def test_rules_need_no_library_of_jobs() -> None:
    """Each import of the Snakefile and of the rules works without them."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "Snakefile", *RULE_FILES)]
    imports = [line for text in texts for line in re.findall(r"^(?:from|import) ragrelay.*", text, re.MULTILINE)]
    assert len(imports) > 30
    run_without(OF_JOBS, "\n".join([*imports, LOADED]), "import snakemake.cli  # whose plugin for SLURM has pandas\n")
