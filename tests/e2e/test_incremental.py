"""A change reruns its consequences and nothing else (dry runs on copies of a finished study, and two real reruns)."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.support.sandbox import Sandbox

Copy = Callable[[], Sandbox]


def edit(sandbox: Sandbox, module: str, old: str, new: str) -> None:
    path = sandbox.folder / "workflow/scripts/ragrelay" / module
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_comment_in_the_config_and_fresh_checkout_rerun_nothing(copied: Copy) -> None:
    study = copied()
    study.write_config("# a comment\n")
    for part in ("Snakefile", "rules", "workflow", "config", "profiles", "resources", "small"):
        root = study.folder / part
        for path in [root, *root.rglob("*")]:
            os.utime(path)
    assert study.planned() == {}


def test_docstring_and_comment_in_a_module_rerun_nothing(copied: Copy) -> None:
    study = copied()
    edit(study, "orderings.py", '"""Orderings', '# new\n"""The orderings')
    # A comment above the docstring leaves it the module's docstring.
    assert study.planned() == {}


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
    edit(study, "analysis/correlation.py", '"""', '"""Changed. ')
    assert study.planned() == {}
    with (study.folder / "workflow/scripts/ragrelay/analysis/correlation.py").open("a") as file:
        file.write("\n\nCHANGED = True\n")
    planned = study.planned()
    assert planned["analyse_transmission"] == 1
    assert not {"compute_utility", "score_answers", "view_answers", "generate_answers", "build_run"} & set(planned)


def test_edited_generation_code_starts_no_engine(copied: Copy) -> None:
    study = copied()
    with (study.folder / "workflow/scripts/ragrelay/generation/engine.py").open("a") as file:
        file.write("\n\nCHANGED = True\n")
    assert study.planned() == {}


def test_more_k_and_seeds_ask_only_for_new_answers(copied: Copy) -> None:
    study = copied()
    study.config["grid"] = {**study.config["grid"], "seeds": [1, 2, 3], "retrievers": ["rel"]}
    study.write_config()
    study.snakemake("all_answers")
    receipt = study.receipts()["rel/shard0"]
    assert (receipt["asked"], receipt["held"], receipt["made"]) == (72, 48, 24)


def test_compare_sets_two_finished_studies_side_by_side(copied: Copy) -> None:
    study = copied()
    study.config["compare"] = {"before": "small", "after": "small", "pairs": {"retrievers": {"bm25": "rel"}}}
    study.write_config()
    assert study.planned("compare") == {"compare_studies": 1, "compare": 1}
    study.snakemake("compare")
    folder = study.results / "compare/small-to-small"
    queries = pl.read_csv(folder / "queries.csv").filter(retriever="bm25 → rel", quantity="p")
    of = pl.read_parquet(study.results / "small/utility/minilm/demo-lm.parquet")
    p = {name: of.filter(retriever=name).select("ordering", "k", "references", "qid", "p") for name in ("bm25", "rel")}
    keys = ["ordering", "k", "references", "qid"]
    expected = p["rel"].join(p["bm25"], on=keys).select(*keys, change=pl.col("p") - pl.col("p_right"))
    found = queries.with_columns(pl.col("qid").cast(pl.String)).join(expected, on=keys)
    assert len(found) > 0 and found["difference"].to_list() == pytest.approx(found["change"].to_list())
    assert "bm25" in (folder / "index.html").read_text(encoding="utf-8")


def test_deleting_results_generates_nothing_anew(copied: Copy, finished: Sandbox) -> None:
    study = copied()
    shutil.rmtree(study.results)
    shutil.rmtree(study.folder / ".snakemake")
    study.snakemake()
    receipts = study.receipts()
    assert len(receipts) == 4
    assert all(receipt["made"] == 0 and receipt["held"] == receipt["asked"] for receipt in receipts.values())
    assert study.tables() == finished.tables()


def test_a_second_run_from_nothing_in_shards_gives_the_same_tables(finished: Sandbox, tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "twin")
    study.config["datasets"]["small"]["shards"] = 2
    study.write_config()
    study.snakemake()
    receipts = study.receipts()
    assert sum(receipt["made"] for receipt in receipts.values()) > 0
    assert receipts["rel/shard0"]["asked"] + receipts["rel/shard1"]["asked"] == 48
    assert study.tables() == finished.tables()
