"""The job graph of the demo, of the paper's grid and of wrong configurations, without running anything."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.annex_cases import of_annexes
from tests.support.forked_python import run_snakemake
from tests.support.sandbox import ROOT, Sandbox, jobs_of


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("dag") / "study")


def test_one_job_generates_and_one_scores_for_all_retrievers(clean: Sandbox) -> None:
    planned = clean.planned()
    assert planned["view_answers"] == planned["score_answers"] == 3
    assert planned["generate_answers"] == planned["fill_scores"] == planned["index_corpus"] == 1
    assert planned["report"] == 1


def test_every_job_says_what_it_is_for(clean: Sandbox) -> None:
    """In a dry run, and so in a run: both show a job by its message."""
    output = clean.snakemake("--dry-run")
    shown = re.findall(r"^Job \d+: (.+)$", output.stdout + output.stderr, re.MULTILINE)
    assert Counter(job.split(":")[0] for job in shown) == clean.planned()
    assert {
        "report",
        "prepare_collection: dataset small",
        "build_run: dataset small, retriever bm25",
        "generate_answers: dataset small, generator demo-lm, shard 0",
        "score_answers: dataset small, generator demo-lm, retriever rel, scorer minilm",
    } <= set(shown)


SHOW_MAKERS = """
for each in workflow.rules:
    print("makers:", each.name, *sorted(set(each.dependencies.values())))
"""


def test_the_makers_of_most_inputs_are_known(clean: Sandbox) -> None:
    """So that Snakemake does not look through the patterns of all rules for each of the answers and prompts."""
    own = clean.folder / "makers.smk"
    own.write_text((ROOT / "Snakefile").read_text(encoding="utf-8") + SHOW_MAKERS)
    done = clean.snakemake("--dry-run", "--snakefile", own.name)
    made = dict(re.findall(r"^makers: (\w+) (.+)$", done.stdout + done.stderr, re.MULTILINE))
    assert made["score_answers"] == made["explore_queries"] == "build_prompts view_answers"
    assert made["describe_answers"] == "view_answers"
    assert made["generate_answers"] == made["view_answers"] == made["describe_scores"] == "build_prompts"


@pytest.mark.gate
@pytest.mark.parametrize("target", ["prefetch", "all_runs", "all_prompts", "all_answers", "all_scores", "report"])
def test_targets(clean: Sandbox, target: str) -> None:
    assert target in clean.planned(target)


def test_prefetch_builds_the_indexes(clean: Sandbox) -> None:
    assert set(clean.planned("prefetch")) == {"prefetch", "index_corpus"}


def test_context_use_starts_one_engine_per_generator(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    study.config["context_use"] = True
    study.write_config()
    planned = study.planned("report")
    assert (planned["score_context_use"], planned["compute_context_use"]) == (1, 3)
    assert planned["split_utility"] == 1


def test_zeroshot_is_viewed_once_whatever_the_grid(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    study.config["grid"] = {
        **study.config["grid"],
        "k": [1, 2, 3, 4],
        "orderings": ["descending", "random", "best_at_ends"],
    }
    study.write_config()
    assert study.planned()["view_zeroshot_answers"] == 1


def test_permutations_are_cells_of_their_own_k(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    study.config["grid"] = {**study.config["grid"], "k": [1, 3], "orderings": ["descending", "permutations"]}
    study.write_config()
    done = study.snakemake("--dry-run", "--summary", "all_prompts")
    found = set(re.findall(r"/bm25/(\S+/k\d)\.parquet", done.stdout))
    orders = ["123", "132", "213", "231", "312", "321"]
    assert found == {"descending/k1", "descending/k3", "permutation_1/k1", *(f"permutation_{o}/k3" for o in orders)}


def test_first_stages_are_shared(tmp_path: Path) -> None:
    """Two rerankers, a pipeline and a fusion stand on one run of BM25, which is built once."""
    study = Sandbox(tmp_path / "study")
    (study.folder / "mine.py").write_text("def shorter(corpus, index): ...\n")
    t5 = {"kind": "rerank", "first_stage": "bm25", "model": "a/b"}
    study.config["retrievers"] = {
        "t5": t5,
        "crossing": {**t5, "reranker": "cross_encoder"},
        "mine": {"kind": "pyterrier", "pipeline": "mine:shorter", "first_stage": "bm25"},
        "all": {"kind": "fusion", "retrievers": ["t5", "bm25", "mine", "dense"]},
    }
    study.config["grid"] = {**study.config["grid"], "retrievers": ["t5", "crossing", "all"]}
    study.write_config()
    planned = study.planned("all_runs")
    assert planned["build_run"] == 6 and planned["index_corpus"] == 2
    assert planned["build_contexts"] == planned["measure_retrieval"] == 3, "of the grid's own retrievers alone"


@pytest.mark.parametrize(
    ("overlays", "jobs", "figures"),
    [(["paper"], 2, 2), (["paper", "paper_pisa"], 2, 2), (["paper", "dev_small"], 4, 1), (["tian2026"], 4, 2)],
    ids=["paper", "pisa", "dev small", "2026"],
)
def test_papers_grids(clean: Sandbox, overlays: list[str], jobs: int, figures: int) -> None:
    """A job of generation per dataset, generator and shard; Figure 4 at the paper's k = 5 besides the largest."""
    files = [f"config/{overlay}.yaml" for overlay in overlays]
    done = run_snakemake(clean.folder, ["--dry-run", "--quiet", "rules", "--configfile", *files], clean.environment())
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    planned = jobs_of(done)
    assert (planned["generate_answers"], planned["draw_figures_at"]) == (jobs, figures)


def test_figure_4_at_any_k_of_the_grid(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study")
    figure = "results/small/report/figures/scatter_small_demo-lm_minilm_{}.svg"
    assert study.planned(figure.format("k1"))["draw_figures_at"] == 1
    assert "draw_figures_at" not in study.planned(), "the largest k, or 5 where it is not the largest, alone"
    done = study.snakemake("--dry-run", figure.format("k3"), check=False)
    assert "No rule to produce" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"grid": {"retrievers": ["bm52"]}}, "config key 'grid.retrievers': found 'bm52'; expected one of"),
        ({"grid": {"k": [0]}}, "config key 'grid.k.0': found 0; expected at least 1"),
        ({"grids": {}}, "config: found unknown key 'grids'; expected one of"),
        (
            {"datasets": {"small": {"source": "local", "path": "nowhere", "references": {"lenient": 2}}}},
            "config key 'datasets.small.path': found no folder nowhere",
        ),
    ],
)
def test_wrong_configurations_end_in_one_line(tmp_path: Path, change: dict, expected: str) -> None:
    study = Sandbox(tmp_path / "study")
    for key, value in change.items():
        study.config[key] = {**study.config.get(key, {}), **value}
    study.write_config()
    done = study.snakemake("--dry-run", check=False)
    assert done.returncode != 0
    assert expected in done.stdout + done.stderr


@pytest.mark.gate
def test_usable_as_a_module(tmp_path: Path) -> None:
    """Another workflow brings its own configuration and takes every rule."""
    study = Sandbox(tmp_path / "study")
    other = tmp_path / "other"
    other.mkdir()
    (other / "Snakefile").write_text(
        "import yaml\n"
        "from pathlib import Path\n"
        f"ours = yaml.safe_load(Path({str(study.folder / 'config/config.yaml')!r}).read_text())\n"
        f"ours['datasets']['demo']['path'] = {str(study.folder / 'resources/demo/collection')!r}\n"
        "ours['generators']['demo-lm']['model'] = 'a/b'\n"
        f"module ragrelay:\n    snakefile: {str(study.folder / 'Snakefile')!r}\n    config: ours\n\n"
        "use rule * from ragrelay as ragrelay_*\n\n"
        "rule everything:\n    default_target: True\n    input: rules.ragrelay_report.input\n\n"
        # A dry run shows of no job whether it would stay on the submitting machine.
        "print('local:', *sorted(workflow._localrules))\n"
    )
    done = run_snakemake(other, ["--dry-run"], study.environment())
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    said = done.stdout + done.stderr
    assert "ragrelay_generate_answers" in said
    of_core = {
        "cache",
        "cache_compact",
        "cache_prune",
        "check_cache",
        "fetch_input",
        "plan",
        "preview",
        "stale",
        "status",
    }
    local = sorted(of_core.union(*of_annexes("LOCAL")))
    assert f"local: {' '.join(f'ragrelay_{rule}' for rule in local)}\n" in said


IMPORTING = """
import yaml
from pathlib import Path

ours = yaml.safe_load(Path("{catalogue}").read_text())
ours["datasets"]["demo"]["path"] = "{collection}"
ours["generators"]["demo-lm"]["model"] = "a/b"

module ragrelay:
    snakefile: "{snakefile}"
    config: ours

use rule * from ragrelay as ours_*

use rule view_answers from ragrelay as ours_view_answers with:
    input:
        prompts=[],
        receipts=lambda wildcards: {receipts}

rule everything:
    default_target: True
    input: rules.ours_report.input
"""


@pytest.mark.parametrize("follows", [False, True], ids=["as a plain input", "ancient"])
def test_a_view_whose_input_is_replaced_is_told_if_it_no_longer_only_follows(tmp_path: Path, follows: bool) -> None:
    study, other = Sandbox(tmp_path / "study"), tmp_path / "other"
    other.mkdir()
    receipt = 'f"results/demo/{wildcards.dataset}/generated/{wildcards.generator}/shard0.json"'
    paths = {
        "catalogue": study.folder / "config/config.yaml",
        "collection": study.folder / "resources/demo/collection",
        "snakefile": study.folder / "Snakefile",
        "receipts": f"ancient({receipt})" if follows else receipt,
    }
    text = IMPORTING
    for name, value in paths.items():
        text = text.replace(f"{{{name}}}", str(value))
    (other / "Snakefile").write_text(text)
    done = run_snakemake(other, ["--dry-run"], study.environment())
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    told = [line for line in said.splitlines() if line.startswith("ragrelay: warning: ")]
    assert [line.split()[3] for line in told] == ([] if follows else ["ours_view_answers:"])


@pytest.mark.gate
def test_lint(clean: Sandbox) -> None:
    done = subprocess.run([sys.executable, "-m", "snakemake", "--lint"], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "Congratulations" in done.stdout + done.stderr
