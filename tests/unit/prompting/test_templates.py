"""Prompt templates: Tian et al.'s text to the letter, passages unharmed, bad templates told in one line."""

from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.prompting.templates import Template, load_template

from tests.unit.conftest import TEMPLATE

GOOD = 'zeroshot: "Q: {query}"\nkshot: "{contexts}Q: {query}"\ncontext: "{i}. {text} "\n'


def test_tian2025_zeroshot() -> None:
    assert load_template(TEMPLATE).render("what is tea", []) == (
        "You are an expert at answering questions based on your own knowledge. Please answer this question. "
        "End your answer with STOP. \n"
        'Question: "what is tea"\n'
        "Now start your answer. \n"
        "Answer: "
    )


def test_tian2025_kshot() -> None:
    assert load_template(TEMPLATE).render("what is tea", ["A leaf.", "A drink."]) == (
        "You are an expert at answering questions based on your own knowledge and related context. "
        "Please answer this question based on the given context. End your answer with STOP. \n"
        'Context 1: "A leaf.";\n'
        'Context 2: "A drink.";\n'
        'Question: "what is tea"\n'
        "Now start your answer. \n"
        "Answer: "
    )


@pytest.mark.parametrize(
    "text",
    [
        "{query}",
        "{",
        "}}",
        "{0} {i} {{x}}",
        'say "no"',
        "back\\slash \\n",
        "100% $x %s",
        "<b>é 你好</b>",
        "{contexts!r:>9}",
    ],
)
def test_passages_and_queries_stand_as_they_are(text: str) -> None:
    template = load_template(TEMPLATE)
    assert f'Context 1: "{text}";\nContext 2: "{text}";\nQuestion: "{text}"\n' in template.render(text, [text, text])
    assert f'\nQuestion: "{text}"\n' in template.render(text, [])


def test_doubled_braces_are_braces(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text('zeroshot: "{{x}} {query}"\nkshot: "{{{query}}} {contexts}"\ncontext: "{text}"\n')
    template = load_template(path)
    assert template.render("q", []) == "{x} q"
    assert template.render("q", ["a", "b"]) == "{q} ab"


def test_source_is_allowed_and_numbers_are_optional(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(GOOD.replace("{i}. ", "") + "source: a paper\n")
    assert load_template(path).render("q", ["a"]) == "a Q: q"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (GOOD.replace("Q: {query}", "Q: {qurey}", 1), ["'zeroshot'", "{qurey}", "{query}"]),
        (GOOD.replace("Q: {query}", "Q: {contexts} {query}", 1), ["'zeroshot'", "{contexts}"]),
        (GOOD.replace("{text}", "{query}"), ["'context'", "{query}", "{text}"]),
        (GOOD.replace("{text}", "{text.__class__}"), ["'context'", "{text.__class__}"]),
        (GOOD.replace("{text}", "{text!r}"), ["'context'", "{text}"]),
        (GOOD.replace("{text}", "{text:>{i}}"), ["'context'", "{text}"]),
        (GOOD.replace("{text}", "{}"), ["'context'", "{}"]),
        (GOOD.replace("{contexts}", ""), ["'kshot'", "a template without {contexts}"]),
        (GOOD.replace("Q: {query}", "Q: ", 1), ["'zeroshot'", "a template without {query}"]),
        (GOOD.replace("Q: {query}", "Q: {query", 1), ["'zeroshot'", "{{"]),
        (GOOD.split("context:")[0], ["'context'", "no text", "{text}"]),
        (GOOD.replace('zeroshot: "Q: {query}"', "zeroshot: 7"), ["'zeroshot'", "no text"]),
        (GOOD + "contexts: x\n", ["unknown key 'contexts'", "zeroshot, kshot, context"]),
        ('zeroshot: "x\n', ["invalid YAML"]),
        ("- a\n", ["list", "a mapping"]),
        ("", ["a mapping"]),
    ],
)
def test_template_errors(tmp_path: Path, content: str, parts: list[str]) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        load_template(path)
    message = str(error.value)
    assert "\n" not in message
    assert all(part in message for part in [str(path), "found", "expected", *parts]), message


SYSTEM = 'system_zeroshot: "Be {{brief}}."\nsystem_kshot: "Read."\n'


def test_system_parts(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(GOOD + SYSTEM)
    template = load_template(path)
    assert template.system([]) == "Be {brief}." and template.system(["a"]) == "Read."
    assert template.render("q", []) == "Q: q"
    assert load_template(TEMPLATE).system([]) == load_template(TEMPLATE).system(["a"]) == ""


@pytest.mark.parametrize(
    ("system", "parts"),
    [
        (SYSTEM.split("\n")[0], ["only key 'system_zeroshot'", "system_kshot, or neither"]),
        (SYSTEM.replace("Read.", "Read {query}."), ["'system_kshot'", "{query}", "no placeholder"]),
        (SYSTEM.replace('"Read."', "[1]"), ["'system_kshot'", "no text", "no placeholder"]),
    ],
)
def test_system_errors(tmp_path: Path, system: str, parts: list[str]) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(GOOD + system)
    with pytest.raises(InputError) as error:
        load_template(path)
    assert "\n" not in str(error.value) and all(part in str(error.value) for part in parts), error.value


@pytest.mark.parametrize("path", sorted(TEMPLATE.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_template_loads_and_keeps_prefixes(path: Path) -> None:
    """Contexts come first where k grows, so that a prompt with k passages begins as the one with k - 1 does."""
    template = load_template(path)
    one, two = template.render("what?", ["A."]), template.render("what?", ["A.", "B."])
    assert one != template.render("what?", []) and "what?" in template.render("what?", [])
    assert two.startswith(one[: one.index("A.") + 2])


def test_template_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(GOOD.replace("Q:", "Qué:").encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml"):
        load_template(path)


def test_no_template(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_template(tmp_path / "absent.yaml")


BUILDERS = """
def build(query, passages):
    return " | ".join([*passages, query])


def number(query, passages):
    return 7
"""


def builder(folder: Path, function: str, more: str = "") -> Path:
    (folder / "own_prompts.py").write_text(BUILDERS)
    (folder / "template.yaml").write_text(f"builder: own_prompts:{function}\n{more}")
    return folder / "template.yaml"


def test_a_function_of_ones_own_builds_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    template = load_template(builder(tmp_path, "build", "system_zeroshot: Z\nsystem_kshot: K\n"), tmp_path)
    again = Template(**vars(template))
    assert again.render("q", []) == "q" and again.render("q", ["a", "b"]) == "a | b | q"
    assert (again.system([]), again.system(["a"])) == ("Z", "K")
    with pytest.raises(InputError, match="builder own_prompts:number: found a value of type int; expected a text"):
        load_template(builder(tmp_path, "number"), tmp_path).render("q", [])
    (tmp_path / "own_prompts.py").write_text(BUILDERS + "\n# other\n")
    assert load_template(tmp_path / "template.yaml", tmp_path).code != template.code


def test_wrong_builders_are_told(tmp_path: Path) -> None:
    for function, more, message in (
        ("bild", "", "template.yaml, key 'builder': found no function 'bild'"),
        ("build", "kshot: x\n", "template.yaml: found keys 'kshot' and 'builder'; expected only one of these keys"),
        ("build", "ksot: x\n", "unknown key 'ksot'"),
    ):
        with pytest.raises(InputError, match=message):
            load_template(builder(tmp_path, function, more), tmp_path)
