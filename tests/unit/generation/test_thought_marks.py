"""Marks of thought: found in tokenizers and chat templates before an engine starts, unless a generator names them."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.config.schema import validated
from ragrelay.errors import InputError
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.requests import tokenised
from ragrelay.generation.thought_marks import FAMILIES, SPECIAL, Family, thought_marks
from ragrelay.models.model_files import added_tokens
from ragrelay.prompting.templates import Template
from ragrelay.prompting.truncation import Layout

from tests.support.chat_model import CHAT_TEMPLATE, add_tokens, build_chat_model

ASKED = pl.DataFrame(
    {"prompt_id": ["p"], "seed": [1], "qid": ["q"], "docnos": [["d"]], "prompt": ["where is tea grown"], "system": [""]}
)
ELSEWHERE = ("<|inner_prefix|>", "◁think▷", "<thought>")
"""Start marks of families that the installed vLLM has no parser for."""
IDS = [family.start for family in FAMILIES]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return build_chat_model(tmp_path / "model")


def made(generator: dict[str, Any], model: Path, **keys: Any) -> list[Any]:
    """What a job makes of a prompt before it starts its engine."""
    layout = Layout(Template(), Path(), None)
    return list(tokenised(ASKED, {**generator, "model": str(model), **keys}, 2000, layout))


def refusal(generator: dict[str, Any], model: Path, **keys: Any) -> str:
    with pytest.raises(InputError) as error:
        made(generator, model, **keys)
    assert "\n" not in str(error.value)
    return str(error.value)


def start_refusal(generator: dict[str, Any], folder: Path, **keys: Any) -> str | None:
    """What a start says of a generator whose model is in the folder ``model``."""
    try:
        GENERATOR_KINDS.of({**generator, "model": "./model", **keys}).check_thinking("key 'generators.lm", folder)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_marks_in_the_vocabulary(generator: dict[str, Any], model: Path, tmp_path: Path, family: Family) -> None:
    """The line says what to add; with that, a start and a job get past it."""
    special = SPECIAL.search(family.start) is not None
    add_tokens(model, dict.fromkeys((family.signs or (family.end,)), special))
    marks = [family.start, family.end]
    wanted = f"{json.dumps(marks, ensure_ascii=False)}, or none"
    assert f"; expected thinking: {wanted}" in refusal(generator, model)
    assert f"; expected {wanted}" in (start_refusal(generator, tmp_path) or "")
    assert len(made(generator, model, thinking=marks)) == 1
    assert start_refusal(generator, tmp_path, thinking=marks) is None


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_marks_in_the_chat_template(generator: dict[str, Any], model: Path, tmp_path: Path, family: Family) -> None:
    """Also where it only takes thoughts out of earlier turns."""
    drops = f"{{% set history = messages[0].content.split('{family.end}')[-1] %}}"
    (model / "chat_template.jinja").write_text(drops + CHAT_TEMPLATE, encoding="utf-8")
    for said in (refusal(generator, model), start_refusal(generator, tmp_path)):
        assert said and json.dumps([family.start, family.end], ensure_ascii=False) in said and repr(family.end) in said


@pytest.mark.parametrize("chat", [True, False])
def test_none_for_answers_without_thoughts(generator: dict[str, Any], model: Path, tmp_path: Path, chat: bool) -> None:
    (model / "chat_template.jinja").write_text("{% if think %}<think>{% endif %}" + CHAT_TEMPLATE, encoding="utf-8")
    add_tokens(model, {"<think>": False})
    assert start_refusal(generator, tmp_path, chat=chat) and refusal(generator, model, chat=chat)
    assert start_refusal(generator, tmp_path, chat=chat, thinking="none") is None
    assert len(made(generator, model, chat=chat, thinking="none")) == 1


def test_what_the_lines_say(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    add_tokens(model, {"<think>": False, "[THINK]": True})
    both = '["<think>", "</think>"] or ["[THINK]", "[/THINK]"], or none for answers without thoughts'
    assert start_refusal(generator, tmp_path) == (
        f"key 'generators.lm.thinking': found nothing, while the tokenizer in {tmp_path / 'model'} has '<think>', a "
        f"mark of thought; expected {both}"
    )
    assert refusal(generator, model) == (
        f"generator of model {str(model)!r}: found no key thinking, while its tokenizer has '<think>', a mark of "
        f"thought; expected thinking: {both}"
    )


def test_chat_templates_wherever_they_are(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    (model / "chat_template.jinja").unlink()
    path = model / "tokenizer_config.json"
    before = json.loads(path.read_text())
    for template in ("</think>" + CHAT_TEMPLATE, [{"name": "default", "template": "</think>" + CHAT_TEMPLATE}]):
        path.write_text(json.dumps({**before, "chat_template": template}))
        assert "'</think>'" in (start_refusal(generator, tmp_path) or "")
        assert "'</think>'" in refusal(generator, model)
    path.write_text(json.dumps(before | {"added_tokens_decoder": {"7000": {"content": "<think>", "special": False}}}))
    assert "'<think>'" in (start_refusal(generator, tmp_path) or "")


def test_without_marks_nothing_is_asked(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    assert start_refusal(generator, tmp_path) is None and len(made(generator, model, chat=True)) == 1


def test_texts_of_a_fixed_form_have_no_thoughts(generator: dict[str, Any], model: Path) -> None:
    add_tokens(model, {"<think>": False})
    assert len(made(generator, model, structured="[0-9]+")) == 1


def test_endpoints_with_a_tokenizer_alone_are_asked(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    add_tokens(model, {"<think>": False})
    served = {**generator, "engine": "openai", "model": "served", "base_url": "https://host/v1"}
    assert start_refusal(served, tmp_path, model="./model") is None
    assert "'<think>'" in (start_refusal(served, tmp_path, tokenizer="./model") or "")


def test_the_marks_are_vllms() -> None:
    """The source that the table names: each token of each mark is in the parsers that are installed."""
    package = Path(str((find_spec("vllm") or pytest.fail("no vLLM")).origin)).parent
    files = [*package.glob("reasoning/*.py"), *package.glob("parser/*.py")]
    mistral = Path(str((find_spec("mistral_common") or pytest.fail("no mistral_common")).origin)).parent
    files.append(mistral / "tokens/tokenizers/base.py")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in files).replace("\\|", "|")
    for family in FAMILIES:
        if family.start not in ELSEWHERE:
            for mark in family[:2]:
                for piece in re.findall(r"[^<\[]*[<\[][^>\]]*[>\]]\w*|[^<\[]+", mark):
                    assert piece in texts, (mark, piece)


@pytest.mark.parametrize(("value", "marks"), [(["<a>", "</a>"], ["<a>", "</a>"]), ("none", None), (..., None)])
def test_thinking_in_the_configuration(config: dict[str, Any], value: Any, marks: list[str] | None) -> None:
    if value is not ...:
        config["generators"]["lm"]["thinking"] = value
    assert thought_marks(validated(config)["generators"]["lm"]) == marks


def test_added_tokens_beyond_the_beginning_of_the_file(model: Path) -> None:
    add_tokens(model, {f"<{number:0500}>": False for number in range(3000)} | {"<think>": True})
    assert added_tokens(model)["<think>"] is True and len(added_tokens(model)) > 3000
