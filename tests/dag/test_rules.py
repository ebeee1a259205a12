"""What all rules have in common, read from their texts."""

import ast
import re
import shutil
from pathlib import Path

import pytest
import yaml
from ragrelay.asking.question import questions
from ragrelay.jobs import code_digest
from ragrelay.planning import plan as planning

from tests.support.code_edits import edit_functions
from tests.support.sandbox import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
HEAD = re.compile(r"^(?:rule (\w+)|use rule (\w+) as (\w+) with):\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
SCRIPT = re.compile(r'"\.\./workflow/scripts/(\w+\.py)"')
CODE = re.compile(r'code=code_of\(\s*"(\w+\.py)"')
NAMELESS = re.compile(r"^    rule:\n((?:        .*\n|\n(?=        ))+)", re.MULTILINE)
"""The two rules of every question to a model: one that asks, one that reads the replies."""
BODIES = NAMELESS.findall((ROOT / "rules/asking.smk").read_text(encoding="utf-8"))
OF_QUESTIONS = {name: body for one in questions() for name, body in zip((one.asks, one.reads), BODIES, strict=True)}
RULES = {
    **{
        own or new: (base, body)
        for path in FILES
        for own, base, new, body in HEAD.findall(path.read_text(encoding="utf-8"))
    },
    **{name: ("", body) for name, body in OF_QUESTIONS.items()},
}

GENERATION = {rule for rule in RULES if rule.startswith("generate_")}
"""Rules whose questions are prompts, which other rules write."""
OF_JUDGES = {"judge_answers", "check_judge"}
OF_PASSAGES = {"judge_passages", "check_passages"}
OF_EVIDENCE = {"judge_evidence"}
OF_CHECKS = {"check_judge", "check_passages"}
OF_TEXTS = {"score_claims", "score_contexts", "score_context_use"}
ASKED_BY = {
    "asking/questions/judge_passages.py": OF_PASSAGES,
    "claims/judged_evidence.py": OF_EVIDENCE,
    "claims/requests.py": {"score_claims"},
    "context_perplexity/requests.py": {"score_contexts"},
    "context_use/requests.py": {"score_context_use"},
    "generation/tokens.py": {*OF_JUDGES, *OF_PASSAGES, *OF_EVIDENCE, *OF_TEXTS, "write_nuggets"},
    "judging/asked.py": OF_JUDGES,
    "judging/bias_checks.py": OF_CHECKS,
    "likelihoods/continuations.py": OF_TEXTS,
    "likelihoods/words.py": {*OF_JUDGES, *OF_PASSAGES, *OF_EVIDENCE, "score_claims", "write_nuggets"},
    "nuggets/writing.py": {"write_nuggets"},
    "scoring/judged_scorer.py": OF_JUDGES,
}  # fmt: skip
"""Modules that decide what is asked, and the rules that ask it."""


def script_of(rule: str) -> str | None:
    """The script of a rule, or of the one that it is a variant of."""
    base, body = RULES[rule]
    found = SCRIPT.search(body)
    return found[1] if found else script_of(base) if base else None


def has_engine(rule: str) -> bool:
    base, body = RULES[rule]
    return "**ENGINE" in body or 'machine("engine")' in body or bool(base and has_engine(base))


def test_all_rules_are_found() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in FILES)
    named = len(re.findall(r"^(?:use )?rule ", texts, re.MULTILINE))
    assert len(RULES) == named + len(OF_QUESTIONS) and named > 40


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in OF_QUESTIONS])
def test_the_digest_of_a_rule_is_of_its_own_script(rule: str) -> None:
    """Whether code that is mended reruns anything depends on it. Generation and downloads rerun for nothing of it."""
    base, body = RULES[rule]
    of_rule = body + (RULES[base][1] if base and "params:" not in body else "")
    kept = rule in (*GENERATION, "fetch_input", "plan") or script_of(rule) is None
    assert CODE.findall(of_rule) == ([] if kept else [script_of(rule)])


def test_what_asks_an_engine_counts_and_what_answers_does_not(tmp_path: Path) -> None:
    """For each rule with an engine but generation: its own module of questions, and each module that answers."""
    shutil.copytree(ROOT / "workflow/scripts", tmp_path, dirs_exist_ok=True)
    asking = {rule for rule in RULES if has_engine(rule)} - GENERATION
    assert asking == {rule for rules in ASKED_BY.values() for rule in rules}

    def digests() -> dict[str, str]:
        for cached in (code_digest.code_digest, code_digest._code):
            cached.cache_clear()
        modules = {one.asks: f"{type(one).__module__}:ask" for one in questions()}
        return {
            rule: code_digest.questions_digest("ask_question.py", modules[rule], folder=tmp_path) for rule in asking
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
    rules = {rule for rule in RULES if has_engine(rule)}
    assert rules == {*planning.ANSWERS, *(one.asks for one in questions())}


@pytest.mark.parametrize("script", sorted({script_of(rule) for rule in RULES} - {None}))
def test_a_script_gives_its_inputs_to_its_log(script: str) -> None:
    """So that a damaged one is named."""
    text = (ROOT / "workflow/scripts" / script).read_text(encoding="utf-8")
    assert text.count("with job_log(snakemake.log[0], snakemake.input") == ("snakemake.input" in text)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_what_it_does(rule: str) -> None:
    """For `snakemake --list`. A variant of another rule has that one's words."""
    base, body = RULES[rule]
    assert base or rule in OF_QUESTIONS or body.lstrip().startswith('"""')


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/scripts").glob("*.py")), ids=lambda path: path.name)
def test_scripts_read_keys_from_the_paths_of_their_files(path: Path) -> None:
    """By `keyed_files`; a list beside the files could be in another order than they are."""
    assert "zip(" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FILES[1:], ids=lambda path: path.name)
def test_paths_of_files_stand_in_one_place(path: Path) -> None:
    """The registry, `ragrelay/study/files.py`; rules have what is made up of a registry's names."""
    assert not re.findall(r'(?<!f)"<results>/[^"]+\.\w+"', path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES[1:], ids=lambda path: path.name)
def test_a_file_of_rules_says_what_goes_in_and_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.split('"""')[1]
    assert path.name == "targets.smk" or "\nrule " not in text or ("\nInput: " in head and "\nOutput: " in head)


def class_of(rule: str) -> str | None:
    base, body = RULES[rule]
    found = re.search(r'machine\("(\w+)"\)', body)
    return "engine" if has_engine(rule) else found[1] if found else class_of(base) if base else None


def test_the_classes_of_rules_are_those_of_the_profiles() -> None:
    text = (ROOT / "profiles/README.md").read_text(encoding="utf-8").split("## Classes of rules")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    documented = {name: set(re.findall(r"`(\w+)`", rules)) for name, rules in rows}
    classes = {class_of(rule) for rule in RULES} - {None}
    assert documented == {name: {rule for rule in RULES if class_of(rule) == name} for name in classes}
    for profile in ("profiles/slurm", "profiles/local"):
        given = yaml.safe_load((ROOT / profile / "config.yaml").read_text(encoding="utf-8"))["set-resources"]
        assert set(given) == set(documented), profile


SCRIPTS = sorted((ROOT / "workflow/scripts").glob("*.py"))
SEVERAL = {
    "ask_question": {"question_module", "EngineAsker"},
    "read_replies": {"question_module", "write_made"},
    "build_prompts": {"kshot_prompts", "zeroshot_prompts"},
    "correlate_labels": {"label_correlations", "leads", "label_within"},
    "describe_answers": {"answer_lengths", "answer_cost"},
    "describe_scores": {"seed_spread", "utility_by_position"},
    "draw_annotations": {"gather", "write_table", "draw_figures"},
    "encode_references": {"make_scorer"},
    "measure_retrieval": {"measure_ranking", "count_left_out"},
    "write_page": {"read_study", "render_page"},
}
"""Scripts whose work is not that of one function: what they call."""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
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
    """A rule that is a variant of another has the other's script, or shares it by `use rule`."""
    own = {rule: script for rule in RULES if not RULES[rule][0] and (script := script_of(rule))}
    named = {rule: f"{rule}.py" for rule in own}
    others = {name: script_of(name) for name in OF_QUESTIONS}
    assert set(others.values()) == {"ask_question.py", "read_replies.py"}
    assert {rule: script for rule, script in own.items() if script != named[rule]} == {
        **others,
        "cache": "show_cache.py",
        "cache_compact": "compact_cache.py",
        "plan": "plan_generation.py",
        "stale": "list_stale.py",
        "status": "show_status.py",
    }
    assert {path.name for path in SCRIPTS} == set(own.values())
