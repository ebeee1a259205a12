"""What all rules have in common."""

import ast
import re
import shutil
from pathlib import Path

import pytest
import yaml
from ragrelay.execution.jobs import code_digest
from ragrelay.execution.plan import plan as planning
from ragrelay.questions.question import questions

from tests.support.annex_cases import check_documented, entries_of_annexes, of_annexes
from tests.support.code_edits import edit_functions
from tests.support.loaded_rules import loaded_rules
from tests.support.rule_files import RULE_FILES, SCRIPTS
from tests.support.sandbox import ROOT
from tests.support.taken_away import rules_of

pytestmark = pytest.mark.gate

OF_QUESTIONS = {"questions/ask_question.py", "questions/count_requests.py", "questions/read_replies.py"}
"""Scripts of the rules of every question to a model, which ask, count before that, and read the replies."""
GENERATION = "generation/generate_answers.py"
"""Script of the rules whose questions are prompts, which other rules write."""
OF_JUDGES = {"judge_answers", "check_judge"}
ASKED_BY = {
    "questions/context_use/requests.py": {"score_context_use"},
    "generation/tokens.py": {*OF_JUDGES, "score_context_use", "write_nuggets"},
    "questions/judging/judge_requests.py": OF_JUDGES,
    "questions/judging/bias_checks.py": {"check_judge"},
    "generation/likelihoods/continuations.py": {"score_context_use"},
    "generation/likelihoods/words.py": {*OF_JUDGES, "write_nuggets"},
    "generation/likelihoods/endpoint_words.py": OF_JUDGES,
    "questions/nuggets/writing.py": {"write_nuggets"},
    "scoring/judge_scorer.py": OF_JUDGES,
}
for module, rules in entries_of_annexes("ASKED_BY").items():
    ASKED_BY[module] = ASKED_BY.get(module, set()) | rules
"""Modules that decide what is asked, and the rules that ask it."""


def with_engine() -> set[str]:
    """Names of the rules with an engine."""
    return {rule.name for rule in loaded_rules().values() if rule.kind == "engine"}


def test_the_digest_of_a_rule_is_of_its_own_script() -> None:
    """Whether mended code reruns anything depends on it. What fills the cache reruns for nothing of it."""
    rules = [rule for rule in loaded_rules().values() if rule.script not in OF_QUESTIONS]
    assert len(rules) > 40
    without = ("convert_model", "fetch_input", "plan")
    kept = [rule for rule in rules if rule.script in (GENERATION, "scoring/fill_scores.py") or rule.name in without]
    assert {rule.name: rule.code for rule in rules} == {
        rule.name: None if rule in kept else rule.script for rule in rules
    }


def test_what_asks_an_engine_counts_and_what_answers_does_not(tmp_path: Path) -> None:
    """For each rule with an engine but generation: its own module of questions, and each module that answers."""
    shutil.copytree(ROOT / "workflow/scripts", tmp_path, dirs_exist_ok=True)
    asking = with_engine() - {*planning.ANSWERS}
    assert asking == {rule for rules in ASKED_BY.values() for rule in rules}

    def digests() -> dict[str, str]:
        for cached in (code_digest.code_digest, code_digest._code):
            cached.cache_clear()
        modules = {one.asks: f"{type(one).__module__}:ask" for one in questions()}
        return {
            rule: code_digest.questions_digest("questions/ask_question.py", modules[rule], folder=tmp_path)
            for rule in asking
        }

    before = digests()
    for name, rules in ASKED_BY.items():
        path = tmp_path / "ragrelay" / name
        text = path.read_text(encoding="utf-8")
        edit_functions(path)
        assert {rule for rule, digest in digests().items() if digest != before[rule]} == rules, name
        path.write_text(text, encoding="utf-8")
    for name in code_digest.ANSWERING:
        path = tmp_path.joinpath(*name.split("."))
        files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        assert files
        for file in files:
            edit_functions(file)
    assert digests() == before


def test_the_plan_counts_every_rule_with_an_engine() -> None:
    """Of questions all by themselves."""
    assert with_engine() == {*planning.ANSWERS, *(one.asks for one in questions())}


NOT_COUNTED = {
    "build_run": "keeps nothing in the cache: it ranks anew whenever it runs",
    "convert_model": "uses no GPU",
    **entries_of_annexes("NOT_COUNTED"),
}
"""Rules that a profile's class may give a GPU, and that nothing is counted for, with the reason."""


def test_missing_work_is_counted_before_every_job_that_may_get_a_gpu() -> None:
    """A count and its job have the inputs and params by which both find the same keys: their script is the same."""
    rules = loaded_rules()
    with_gpu = [rule for rule in rules.values() if rule.kind]
    assert {rule.name for rule in with_gpu if not rule.counted} == set(NOT_COUNTED)
    text = (ROOT / "docs/cluster.md").read_text(encoding="utf-8").split("### No GPU without work")[1].split("\n## ")[0]
    assert set(NOT_COUNTED) <= set(re.findall(r"`(\w+)`", text)), "the reasons are documented"


@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_gives_its_inputs_to_its_log(path: Path) -> None:
    """So that a damaged one is named."""
    text = path.read_text(encoding="utf-8")
    assert text.count("job_log(snakemake.log[0], snakemake.input") == ("snakemake.input" in text)


def test_every_rule_says_what_it_does() -> None:
    """For `snakemake --list`."""
    assert [rule.name for rule in loaded_rules().values() if not rule.says.strip()] == []


@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_scripts_read_keys_from_the_paths_of_their_files(path: Path) -> None:
    """By `keyed_files`; a list beside the files could be in another order than they are."""
    assert "zip(" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_page_of_rules_has_every_rule(path: Path) -> None:
    page = (ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")
    assert [name for name in rules_of(path) if f"\n| `{name}` |" not in page] == [], "run `make docs`"


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_paths_of_files_stand_in_one_place(path: Path) -> None:
    """The registry, `ragrelay/execution/study/files.py`; rules have what is made up of a registry's names."""
    assert not re.findall(r'(?<!f)"<results>/[^"]+\.\w+"', path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_of_rules_says_what_goes_in_and_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.split('"""')[1]
    assert path.name == "targets.smk" or "\nrule " not in text or ("\nInput: " in head and "\nOutput: " in head)


def test_the_classes_of_rules_are_those_of_the_profiles() -> None:
    text = (ROOT / "profiles/README.md").read_text(encoding="utf-8").split("## Rule classes")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    documented = {name: set(re.findall(r"`(\w+)`", rules)) for name, rules in rows}
    rules = [rule for rule in loaded_rules().values() if rule.kind]
    assert set(documented) == {rule.kind for rule in rules}
    for kind, names in documented.items():
        check_documented({rule.name for rule in rules if rule.kind == kind}, names)
    for profile in ("profiles/slurm", "profiles/local"):
        given = yaml.safe_load((ROOT / profile / "config.yaml").read_text(encoding="utf-8"))["set-resources"]
        assert set(given) == set(documented), profile


SEVERAL = {
    "ask_question": {"ask_parts", "EngineAsker"},
    "read_replies": {"read_parts", "StoreAsker", "write_made"},
    "build_prompts": {"kshot_prompts", "zeroshot_prompts"},
    "describe_answers": {"answer_lengths", "answer_cost"},
    "describe_scores": {"seed_spread", "utility_by_position"},
    "encode_references": {"make_scorer"},
    "measure_retrieval": {"measure_all", "count_left_out", "context_warnings", "count_ties"},
    "prepare_judged_subtopics": {"judged_collection", "prepare_collection", "prepare_references"},
    "preview_study": {"preview_answers", "render_preview"},
    "write_page": {"read_study", "page_and_facts"},
    **entries_of_annexes("SEVERAL"),
}
"""Scripts whose work is not that of one function: what they call."""


@pytest.mark.parametrize("path", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_calls_the_function_of_its_name(path: Path) -> None:
    """From a function to its rule and back without a search: rule, script and function share their name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ragrelay.")
        for alias in node.names
    }
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)} & imported
    assert SEVERAL.get(path.stem, {path.stem}) <= called
    assert not (path.stem in SEVERAL and path.stem in called), "no longer an exception"


def test_a_script_has_the_name_of_its_rule() -> None:
    """Variants of a rule share its script."""
    shared = {rule.script for rule in loaded_rules().values() if rule.script}
    assert {*SCRIPTS} == shared
    targets = ("show_cache", "compact_cache", "plan_generation", "list_stale", "show_status", "preview_study")
    others = {f"execution/{name}.py" for name in targets}
    others |= set().union(*of_annexes("OTHER_SCRIPTS"))
    assert {name for name in shared if Path(name).stem not in loaded_rules()} == {*OF_QUESTIONS, *others}
