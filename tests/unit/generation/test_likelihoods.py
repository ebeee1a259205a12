"""Likelihoods: vLLM's equal those of the same model run by transformers, are kept, and are never made twice."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.generation.engine import VllmEngine
from ragrelay.generation.likelihoods.continuations import continuation_id
from ragrelay.generation.likelihoods.job import fill_likelihoods, look_up, scorings_of
from ragrelay.generation.likelihoods.store import LikelihoodStore, likelihood_fingerprint
from ragrelay.generation.likelihoods.words import first_tokens, spelled
from ragrelay.generation.requests import shared_prefix
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.prompting.layout import prompt_id

from tests.support.sandbox import ROOT

pytestmark = pytest.mark.engine

PROMPTS = ["Is it true that tea is a plant?\nAnswer:", "Is it true that iron is a plant?\nAnswer:", ""]
TEXTS = [" true", " none of these", " tea is grown on hills in the cool rain. STOP"]


def asked_for(tokenizer: Any, prompts: list[str] = PROMPTS) -> pl.DataFrame:
    continuations = [[token] for token in (5, 80, 200)]
    continuations += [tokenizer(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    rows = [(prompt_id(prompt), prompt, "", ids) for prompt in prompts for ids in continuations]
    schema = {"prompt_id": pl.String, "prompt": pl.String, "system": pl.String, "token_ids": pl.List(pl.Int64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def start(definition: Mapping[str, Any], window: int) -> VllmEngine:
    return VllmEngine(definition, window, threads=1)


def by_transformers(model: str, prompt: str, continuation: list[int]) -> float:
    """The sum over the continuation of the log-softmax over the whole vocabulary, one forward pass in float32."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    ids = tokenizer(prompt)["input_ids"] + continuation
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    with torch.no_grad():
        logits = loaded(torch.tensor([ids])).logits[0].log_softmax(-1)
    start = len(ids) - len(continuation)
    return sum(float(logits[place - 1, ids[place]]) for place in range(start, len(ids)))


@pytest.mark.parametrize("model", ["demo", "tiny"])
def test_equal_to_transformers(generator: dict[str, Any], tiny_llama: Path, tmp_path: Path, model: str) -> None:
    folder = str(ROOT / "resources/demo/model") if model == "demo" else str(tiny_llama)
    definition = {**generator, "model": folder, "max_model_len": 256}
    asked = asked_for(load_tokenizer(definition))
    store = LikelihoodStore(tmp_path, likelihood_fingerprint(definition))
    receipt = fill_likelihoods(asked, store, definition, start)
    assert (receipt["asked"], receipt["made"], receipt["cached"]) == (len(asked), len(asked), 0)
    found = look_up(asked, store)
    assert found["token_ids"].to_list() == asked["token_ids"].to_list()
    expected = [by_transformers(folder, prompt, ids) for prompt, ids in asked.select("prompt", "token_ids").iter_rows()]
    assert found["logprob"].to_list() == pytest.approx(expected, abs=1e-4)
    assert found["tokens"].to_list() == [len(ids) for ids in asked["token_ids"].to_list()]

    def no_engine(*_: Any) -> VllmEngine:
        raise AssertionError("an engine was started for what is held")

    again = fill_likelihoods(asked, LikelihoodStore(tmp_path, store.folder.name), definition, no_engine)
    assert (again["made"], again["cached"]) == (0, len(asked))
    assert sum(again["engines"].values()) == len(asked)


def test_only_what_lacks_is_made_and_resumed(generator: dict[str, Any], tmp_path: Path) -> None:
    asked = asked_for(load_tokenizer(generator), PROMPTS[:1])
    store = LikelihoodStore(tmp_path, "f")
    rows = [
        {"prompt_id": asked["prompt_id"][0], "continuation": continuation_id(ids), "tokens": len(ids), "logprob": -7.0}
        for ids in asked["token_ids"].to_list()[:-1]
    ]
    store.append(rows, {})
    receipt = fill_likelihoods(asked, store, generator, start)
    assert (receipt["made"], receipt["cached"]) == (1, len(asked) - 1)
    found = look_up(asked, store)["logprob"].to_list()
    assert found[:-1] == [-7.0] * (len(asked) - 1) and found[-1] != -7.0


def test_too_long_and_lacking(generator: dict[str, Any], tmp_path: Path) -> None:
    definition = {**generator, "max_model_len": 40}
    asked = asked_for(load_tokenizer(definition), PROMPTS[:1])
    store = LikelihoodStore(tmp_path, "f")
    with pytest.raises(InputError, match="found 40 tokens; expected fewer than the window's 40"):
        fill_likelihoods(asked, store, definition, lambda wanted, window: pytest.fail("started"))
    with pytest.raises(InputError, match="no likelihoods for 6 of 6 continuations"):
        look_up(asked, store)


def test_requests_that_begin_alike_follow_each_other(generator: dict[str, Any]) -> None:
    """Four of five prompt tokens can then come from a prefix cache that holds a single prompt."""
    passages = [f"Passage: {letter} {'tea is grown on hills in the cool rain, ' * 6}\n" for letter in "dbca"]
    prompts = [f"{passage}Question: what is {word}?\n" for word in ("tea", "iron", "rain", "a hill", "a plant", "gold")
               for passage in passages]  # fmt: skip
    rows = [(prompt_id(prompt), prompt, "", [5]) for prompt in prompts]
    asked = pl.DataFrame(rows, schema=["prompt_id", "prompt", "system", "token_ids"], orient="row")
    given = [request.given for request in scorings_of(asked, generator, 1000)]
    assert len(given) == len(prompts)
    shared = [shared_prefix(before, after, 32) for before, after in pairwise(given)]
    assert sum(shared) >= 0.8 * sum(map(len, given[1:])) * 20 / 23, "of 23 prompts 20 share their passage"


def test_the_fingerprint_knows_no_decoding(generator: dict[str, Any]) -> None:
    one = likelihood_fingerprint(generator)
    for key, value in {
        "temperature": 0.9, "max_tokens": 5, "stop": ["X"], "over_window": "truncate", "repetition_penalty": 1.1,
        "repetition_window": 64,
    }.items():  # fmt: skip
        assert likelihood_fingerprint({**generator, key: value}) == one
    for key, value in {"dtype": "bfloat16", "chat": True, "quantization": "fp8"}.items():
        assert likelihood_fingerprint({**generator, key: value}) != one


class Tokenizer:
    """A fake tokenizer with a vocabulary of whole texts; what is not in it is spelled by characters."""

    unk_token_id = 999

    def __init__(self, **pieces: list[int]) -> None:
        self.pieces = {name.replace("_", " "): ids for name, ids in pieces.items()}

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": self.pieces[text]}

    def convert_ids_to_tokens(self, token: int) -> str:
        return f"piece{token}"

    def decode(self, tokens: list[int]) -> str:
        return f"text{tokens[0]}"


def test_first_tokens_with_and_without_a_space() -> None:
    gpt = Tokenizer(True_=[0], **{"True": [1], "_True": [2], "False": [3, 4], "_False": [5, 4]})
    assert first_tokens(gpt, ["True", "False"], "t") == {"True": [1, 2], "False": [3, 5]}
    spaced = Tokenizer(**{"True": [1], "_True": [9, 1], "False": [3], "_False": [9, 3]})
    assert first_tokens(spaced, ["True", "False"], "t") == {"True": [1], "False": [3]}
    shorter = Tokenizer(**{"True": [1, 7], "_True": [2]})
    tokens = first_tokens(shorter, ["True"], "t")
    assert tokens == {"True": [1, 2]}
    assert spelled(shorter, tokens)["True"] == [
        {"id": 1, "text": "text1", "whole": False}, {"id": 2, "text": "text2", "whole": True},
    ]  # fmt: skip


def test_words_that_share_a_token_or_have_none() -> None:
    shared = Tokenizer(**{"None": [1, 2], "_None": [1, 3], "No": [1], "_No": [4]})
    with pytest.raises(InputError, match="tokenizer t: found 'None' and 'No', both beginning with token 'piece1'"):
        first_tokens(shared, ["None", "No"], "tokenizer t")
    with pytest.raises(InputError, match="no token for 'None'"):
        first_tokens(Tokenizer(**{"None": [999], "_None": [5]}), ["None"], "t")


def test_first_tokens_of_the_demo_model() -> None:
    tokenizer = load_tokenizer({"model": str(ROOT / "resources/demo/model"), "trust_remote_code": False})
    tokens = first_tokens(tokenizer, ["True", "False", "None"], "t")
    told = spelled(tokenizer, tokens)
    assert {word: [token["text"] for token in found] for word, found in told.items()} == {
        "True": ["t", " true"], "False": ["f", " false"], "None": ["n", " none"],
    }  # fmt: skip
