"""Marks of thought: found in tokenizers and chat templates before an engine starts, unless a generator names them."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.models.model_files import added_tokens
from ragrelay.config.schema import validated
from ragrelay.generation.generator import GENERATOR_KINDS
from ragrelay.generation.requests import tokenised
from ragrelay.generation.thought_marks import BUDGET, FAMILIES, VLLM, WRAPS, Family, thought_budget, thought_marks
from ragrelay.prompting.layout import Layout
from ragrelay.prompting.templates import Template

from tests.support.chat_model import CHAT_TEMPLATE, add_tokens, build_chat_model
from tests.support.thoughts import told
from tools import thinking_models

pytestmark = pytest.mark.engine

ASKED = pl.DataFrame(
    {"prompt_id": ["p"], "seed": [1], "qid": ["q"], "docnos": [["d"]], "prompt": ["where is tea grown"], "system": [""]}
)
IDS = [family.start for family in FAMILIES]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return build_chat_model(tmp_path / "model")


def made(generator: dict[str, Any], model: Path, **keys: Any) -> list[Any]:
    """What a job makes of a prompt before it starts its engine."""
    layout = Layout(Template(), Path(), {})
    return list(tokenised(ASKED, {**generator, "model": str(model), **keys}, 20_000, layout))


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
    add_tokens(model, dict.fromkeys((family.signs or (family.end,)), True))
    marks = [family.start, family.end]
    wanted = f"{json.dumps(marks, ensure_ascii=False)}, or none"
    assert f"; expected thinking: {wanted}" in refusal(generator, model)
    assert f"; expected {wanted}" in (start_refusal(generator, tmp_path) or "")
    for thinking in (marks, {"marks": marks}, {"marks": "auto", "budget": 9}):
        assert len(made(generator, model, thinking=thinking)) == 1
        assert start_refusal(generator, tmp_path, thinking=thinking) is None


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_marks_in_the_chat_template(generator: dict[str, Any], model: Path, tmp_path: Path, family: Family) -> None:
    """They are found even where the template only takes thoughts out of earlier turns."""
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


@pytest.mark.parametrize(
    ("switch", "opened", "closed"),
    [
        ("thinking", "<think>", "<think></think>"),  # DeepSeek-V3.1
        ("enable_thinking", "", "<think>\n\n</think>\n\n"),  # Qwen3
        ("enable_thinking", "<think>", "</think>"),  # GLM-4.7-Flash
        ("enable_thinking", "", "<|channel>thought\n<channel|>"),  # Gemma 4
        ("reasoning", "", "<|START_THINKING|><|END_THINKING|>"),  # Command R7B
    ],
)
def test_a_thought_that_the_chat_template_ends(
    generator: dict[str, Any], model: Path, switch: str, opened: str, closed: str
) -> None:
    """Some templates leave the thought open only if an argument asks for it; else no model would think."""
    end = f"{{% if {switch} %}}{opened}{{% else %}}{closed}{{% endif %}}"
    (model / "chat_template.jinja").write_text(CHAT_TEMPLATE + end, encoding="utf-8")
    said = refusal(generator, model, chat=True, thinking="auto")
    assert f"chat template of model {str(model)!r}: found a template that ends the thought itself ('" in said
    assert "expected chat_template_kwargs that leave the thought open" in said
    [request] = made(generator, model, chat=True, thinking="auto", chat_template_kwargs={switch: True})
    assert request.begun == opened
    [request] = made(generator, model, chat=True, thinking="none")
    assert not request.begun


def test_what_the_lines_say(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    add_tokens(model, {"<think>": False, "[THINK]": True})
    both = '["<think>", "</think>"] or ["[THINK]", "[/THINK]"], or none if the answers contain no thoughts'
    assert start_refusal(generator, tmp_path) == (
        f"key 'generators.lm.thinking': found no value, although the tokenizer in {tmp_path / 'model'} has the "
        f"thought mark '<think>'; expected {both}"
    )
    assert start_refusal(generator, tmp_path, thinking={"marks": "auto"}) == (
        'key \'generators.lm.thinking\': found auto, although the tokenizer has ["<think>", "</think>"] and '
        '["[THINK]", "[/THINK]"]; expected explicit marks, or none'
    )
    assert refusal(generator, model, thinking={"marks": "auto"}).endswith("; expected explicit marks, or none")
    assert refusal(generator, model) == (
        f"generator of model {str(model)!r}: found no key thinking, although the tokenizer has the thought "
        f"mark '<think>'; expected thinking: {both}"
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


def test_the_page_lists_the_families() -> None:
    text = thinking_models.PAGE.read_text(encoding="utf-8")
    assert text == thinking_models.page(text), "run make docs"
    assert all(family.models and family.source for family in FAMILIES)


def test_the_marks_are_vllms() -> None:
    """Each token of each mark is in the installed parsers, which the table names as its source."""
    package = Path(str((find_spec("vllm") or pytest.fail("no vLLM")).origin)).parent
    files = [*package.glob("reasoning/*.py"), *package.glob("parser/*.py")]
    mistral = Path(str((find_spec("mistral_common") or pytest.fail("no mistral_common")).origin)).parent
    files.append(mistral / "tokens/tokenizers/base.py")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in files).replace("\\|", "|")
    for family in FAMILIES:
        if family.source == VLLM:
            for mark in family[:2]:
                for piece in re.findall(r"[^<\[]*[<\[][^>\]]*[>\]]\w*|[^<\[]+", mark):
                    assert piece in texts, (mark, piece)


THINK = FAMILIES[0]
OTHER_PARSERS = {
    "cohere_command3": FAMILIES[4], "cohere_command4": FAMILIES[4],  # are read by another class
    "gemma4": FAMILIES[3],  # "thought" is what the parser takes off a thought's beginning
    "openai_gptoss": FAMILIES[2],  # are read by another class
    "mistral": FAMILIES[1],  # wants Mistral's own tokenizer
    "inkling": next(family for family in FAMILIES if "content_thinking" in family.start),  # names a thought's end
    "muse_glimmer": next(family for family in FAMILIES if "to=self" in family.start),  # names no marks
    "granite": FAMILIES[-1],  # names no marks
    "hunyuan_a13b": THINK,  # names no marks
    "minimax_m2_append_think": THINK,  # names no marks
    "poolside_v1": THINK, "olmo3": THINK,  # want other tokens besides
    "hf": None,  # no marks: each tokenizer's configuration has a pattern of its own, and no model of a family does
}  # fmt: skip
"""vLLM's parsers that don't name their family's marks as the table does, and why."""
WRAPPED = {"ernie45": WRAPS[1], "kimi_k3": WRAPS[2]}


def test_all_of_vllms_parsers_have_a_family(model: Path) -> None:
    """Each registered parser has marks of the table, and finds the answer that we find."""
    from transformers import AutoTokenizer
    from vllm import reasoning
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    parsers = reasoning._REASONING_PARSERS_TO_REGISTER
    assert OTHER_PARSERS.keys() < parsers.keys()
    pieces = {piece for family in FAMILIES for piece in re.findall(r"<[^>]+>", family.start + family.end)}
    add_tokens(model, dict.fromkeys([*sorted(pieces), "<response>", "</response>", "<|im_end|>"], False))
    tokenizer = AutoTokenizer.from_pretrained(model)
    thinks: Any = {"thinking": True, "enable_thinking": True, "reasoning_effort": "high"}
    known = {family[:2] for family in FAMILIES}
    for name in parsers.keys() - OTHER_PARSERS.keys():
        parser = reasoning.ReasoningParserManager.get_reasoning_parser(name)(tokenizer, chat_template_kwargs=thinks)
        marks = (str(parser.reasoning_start_str), str(parser.reasoning_end_str))
        assert marks in known, name
        for opening, closing in [("", ""), *([WRAPPED[name]] if name in WRAPPED else [])]:
            text = f"{marks[0]}a leaf?{marks[1]}{opening}Tea.{closing}"
            theirs = parser.extract_reasoning(text, ChatCompletionRequest(model="m", messages=[]))[1]
            assert theirs == told([{"answer": text, "finish_reason": "stop"}], marks)["answer"].item() == "Tea.", name


@pytest.mark.parametrize("text", ["<think:6124c78e>", "</think:6124c78e>"])
def test_marks_with_a_checkpoints_own_suffix(generator: dict[str, Any], model: Path, tmp_path: Path, text: str) -> None:
    """Hy 3 and 4 have such marks."""
    add_tokens(model, {text: True})
    wanted = '["<think:6124c78e>", "</think:6124c78e>"]'
    for said in (refusal(generator, model), start_refusal(generator, tmp_path)):
        assert said and wanted in said
    assert len(made(generator, model, thinking=json.loads(wanted))) == 1


@pytest.mark.parametrize(
    ("value", "marks", "budget"),
    [
        (["<a>", "</a>"], ["<a>", "</a>"], BUDGET),
        ({"marks": ["<a>", "</a>"], "budget": 9}, ["<a>", "</a>"], 9),
        ("none", None, 0),
        ({"marks": "none"}, None, 0),
        (..., None, 0),
    ],
)
def test_thinking_in_the_configuration(
    config: dict[str, Any], value: Any, marks: list[str] | None, budget: int
) -> None:
    if value is not ...:
        config["generators"]["lm"]["thinking"] = value
    definition = validated(config).mapping()["generators"]["lm"]
    assert (thought_marks(definition), thought_budget(definition)) == (marks, budget)


def test_keys_of_thinking_without_effect(generator: dict[str, Any], model: Path, tmp_path: Path) -> None:
    off = {"marks": "none", "budget": 9}
    assert "thinking.budget': found a key that has no" in (start_refusal(generator, tmp_path, thinking=off) or "")
    served = {**generator, "engine": "openai", "base_url": "https://host/v1", "chat": True, "thinking": {"budget": 9}}
    assert "auto without a tokenizer" in (start_refusal(served, tmp_path) or "")
    with pytest.raises(InputError, match=r"thinking\.budget': found 9; expected key tokenizer as well, because a chat"):
        GENERATOR_KINDS.of(served).check_given("key 'generators.lm", {"chat": True})


def test_added_tokens_beyond_the_beginning_of_the_file(model: Path) -> None:
    add_tokens(model, {f"<{number:0500}>": False for number in range(3000)} | {"<think>": True})
    assert added_tokens(model)["<think>"] is True and len(added_tokens(model)) > 3000
