"""A change reruns its consequences and nothing else: dry runs on copies of a finished study."""

import os
from collections.abc import Callable

import polars as pl
import pytest

from tests.support.sandbox import Sandbox, jobs_of

Copy = Callable[[], Sandbox]


def edit(sandbox: Sandbox, module: str, old: str, new: str) -> None:
    path = sandbox.folder / "workflow/scripts/ragrelay" / module
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_comments_docstrings_and_a_fresh_checkout_rerun_nothing(copied: Copy) -> None:
    """Nor does the code that generates, since its answers are there."""
    study = copied()
    study.write_config("# a comment\n")
    # A comment above the docstring leaves it the module's docstring.
    edit(study, "vocabulary/orderings.py", '"""Orderings', '# new\n"""The orderings')
    edit(study, "analysis/correlation.py", '"""', '"""Changed. ')
    extend(study, "generation/engine.py")
    for part in ("Snakefile", "rules", "workflow", "config", "profiles", "resources", "small"):
        root = study.folder / part
        for path in [root, *root.rglob("*")]:
            os.utime(path)
    assert study.planned() == {}


def extend(sandbox: Sandbox, module: str) -> None:
    with (sandbox.folder / "workflow/scripts/ragrelay" / module).open("a", encoding="utf-8") as file:
        file.write("\n\nCHANGED = True\n")


def test_changed_retriever_reruns_itself_and_what_is_built_on_it(copied: Copy) -> None:
    study = copied()
    study.config["retrievers"] = {"bm25": {"k1": 2.0}}
    study.write_config()
    planned = study.planned()
    one_each = ("build_run", "build_contexts", "build_prompts", "generate_answers", "view_answers", "score_answers")
    assert {rule: planned.get(rule) for rule in one_each} == dict.fromkeys(one_each, 1)
    assert planned["compute_utility"] == planned["analyse_transmission"] == planned["write_report"] == 1
    assert not {"prepare_collection", "index_corpus", "generate_zeroshot_answers", "score_zeroshot_answers"} & set(
        planned
    )


def test_edited_module_reruns_the_stages_that_import_it(copied: Copy) -> None:
    study = copied()
    extend(study, "analysis/correlation.py")
    planned = study.planned()
    assert planned["analyse_transmission"] == 1
    assert not {"compute_utility", "score_answers", "view_answers", "generate_answers", "build_run"} & set(planned)


def test_compare_sets_two_finished_studies_side_by_side(copied: Copy) -> None:
    study = copied()
    study.config["compare"] = {"before": "small", "after": "small", "pairs": {"retrievers": {"bm25": "rel"}}}
    study.write_config()
    assert jobs_of(study.snakemake("compare")) == {"compare_studies": 1, "compare": 1}
    folder = study.results / "compare/small-to-small"
    queries = pl.read_csv(folder / "queries.csv").filter(retriever="bm25 → rel", quantity="p")
    of = pl.read_parquet(study.results / "small/utility/minilm/demo-lm.parquet")
    p = {name: of.filter(retriever=name).select("ordering", "k", "references", "qid", "p") for name in ("bm25", "rel")}
    keys = ["ordering", "k", "references", "qid"]
    expected = p["rel"].join(p["bm25"], on=keys).select(*keys, change=pl.col("p") - pl.col("p_right"))
    found = queries.with_columns(pl.col("qid").cast(pl.String)).join(expected, on=keys)
    assert len(found) > 0 and found["difference"].to_list() == pytest.approx(found["change"].to_list())
    assert "bm25" in (folder / "index.html").read_text(encoding="utf-8")
