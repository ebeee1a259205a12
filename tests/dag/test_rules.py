"""What all rules have in common, read from their texts."""

import re

import pytest

from tests.support.sandbox import ROOT

FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
HEAD = re.compile(r"^(?:rule (\w+)|use rule (\w+) as (\w+) with):\n((?:    .*\n|\n(?=    ))+)", re.MULTILINE)
SCRIPT = re.compile(r'"\.\./workflow/scripts/(\w+\.py)"')
CODE = re.compile(r'code=code_of\("(\w+\.py)"')
RULES = {
    own or new: (base, body)
    for path in FILES
    for own, base, new, body in HEAD.findall(path.read_text(encoding="utf-8"))
}


def script_of(rule: str) -> str | None:
    """The script of a rule, or of the one that it is a variant of."""
    base, body = RULES[rule]
    found = SCRIPT.search(body)
    return found[1] if found else script_of(base) if base else None


def has_engine(rule: str) -> bool:
    base, body = RULES[rule]
    return 'machine("engine")' in body or bool(base and has_engine(base))


def test_all_rules_are_found() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in FILES)
    assert len(RULES) == len(re.findall(r"^(?:use )?rule ", texts, re.MULTILINE)) > 40


@pytest.mark.parametrize("rule", RULES)
def test_the_digest_of_a_rule_is_of_its_own_script(rule: str) -> None:
    """Whether code that is mended reruns anything depends on it. Generation and downloads rerun for nothing of it."""
    base, body = RULES[rule]
    found = [*CODE.findall(body), *(CODE.findall(RULES[base][1]) if base and "params:" not in body else [])]
    kept = has_engine(rule) or rule in ("fetch_input", "plan") or script_of(rule) is None
    assert found == ([] if kept else [script_of(rule)])


@pytest.mark.parametrize("rule", RULES)
def test_a_target_says_what_it_makes(rule: str) -> None:
    """For `snakemake --list`."""
    body = RULES[rule][1]
    assert script_of(rule) or body.lstrip().startswith('"""')
