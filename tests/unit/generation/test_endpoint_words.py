"""Words' probabilities from an endpoint: what is sent, what is read of the candidates, and what is refused."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.execution.plan.counted_requests import PlanAsker
from ragrelay.execution.plan.generator_plan import GeneratorPlan
from ragrelay.generation.likelihoods.asker import EngineAsker
from ragrelay.generation.likelihoods.store import LikelihoodStore, likelihood_fingerprint
from ragrelay.generation.likelihoods.word_questions import ask_words, asked_shares, with_prompts
from ragrelay.generation.requests import sends_texts
from ragrelay.prompting.templates import Template

from tests.support.fake_endpoint import DEFINITION, FakeServer, asked_of
from tests.support.sandbox import MODEL

pytestmark = pytest.mark.process

CANDIDATES = {"one": {" yes": 0.4, "yes": 0.2, "No": 0.1, " no": 0.1, "yesterday": 0.05}, "two": {"no": 0.6, "so": 0.3},
              "three": {"Well": 0.5, " I": 0.4}}  # fmt: skip


class Judge(FakeServer):
    """Gives the candidates of CANDIDATES for the first token, by the first word of the prompt."""

    def said(self, body: dict[str, Any]) -> dict[str, Any]:
        said = super().said(body)
        (choice,) = said["choices"]
        asked = asked_of(body).split()[0]
        logs = {text: math.log(p) for text, p in CANDIDATES.get(asked, CANDIDATES["one"]).items()}
        if self.quiet:
            return said
        if "messages" in body:
            top = [{"token": text, "logprob": value, "bytes": None} for text, value in logs.items()]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        else:
            choice["logprobs"] = {"token_logprobs": [max(logs.values())], "top_logprobs": [logs]}
        return said


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    server = Judge()
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    yield server
    server.server.shutdown()
    server.server.server_close()


QUESTIONS = with_prompts(pl.DataFrame({"n": [1, 2, 3]}), ["one is it", "two is it not", "three"])
JUDGE = {**DEFINITION, "flush_seconds": 0.0, "trust_remote_code": False}


def asked(cache: Path, begins: str = "", questions: pl.DataFrame = QUESTIONS, **keys: Any) -> dict[str, Any]:
    definition = {**JUDGE, **keys}
    asker = EngineAsker(definition, likelihood_fingerprint(definition), cache, 1)
    return ask_words(questions, ["yes", "no"], begins, asker)


def planned(cache: Path, **keys: Any) -> pl.DataFrame:
    asker = PlanAsker(GeneratorPlan({**JUDGE, **keys}, "fp", Template(), cache, 1))
    ask_words(QUESTIONS, ["yes", "no"], "", asker)
    return asker.work


@pytest.mark.parametrize("chat", [False, True])
def test_candidates_that_spell_a_word_are_summed(server: Judge, tmp_path: Path, chat: bool) -> None:
    """A word without a candidate counts as 0; where neither has one, no share is known to be larger."""
    before = planned(tmp_path, chat=chat)
    assert before["requests"].sum() == 3 and before["prompt_tokens"].sum() > 0
    receipt = asked(tmp_path, chat=chat)
    found = asked_shares(QUESTIONS, receipt, tmp_path, ["n"])
    assert found["shares"].to_list() == [pytest.approx([6 / 7, 1 / 7]), [0.0, 1.0], [0.5, 0.5]]
    assert found["mass"].to_list() == pytest.approx([0.7, 0.6, 0.0])
    assert (receipt["asked"], receipt["made"], receipt["requests"]) == (6, 6, 3) and len(server.bodies) == 3
    asking = {"logprobs": True, "top_logprobs": 20} if chat else {"logprobs": 20}
    for body in server.bodies:
        sent = {"messages": body["messages"]} if chat else {"prompt": body["prompt"]}
        assert body == {"model": "m", "temperature": 0.0, "max_tokens": 1, **asking, **sent}
    assert asked_of(server.bodies[0]) == "two is it not", "the longest is sent first, alone"
    again = asked(tmp_path, chat=chat)
    assert (again["made"], again["cached"]) == (0, 6) and len(server.bodies) == 3
    assert planned(tmp_path, chat=chat)["requests"].sum() == 0


def test_keys_of_the_entry(server: Judge, tmp_path: Path) -> None:
    asked(tmp_path, temperature=None, max_tokens_name="max_completion_tokens", extra_body={"effort": "low"})
    assert server.bodies[0] == {
        "model": "m", "prompt": "two is it not", "max_completion_tokens": 1, "logprobs": 20, "effort": "low"
    }  # fmt: skip


def test_a_text_is_begun_in_the_prompt(server: Judge, tmp_path: Path) -> None:
    receipt = asked(tmp_path, " It is")
    assert {body["prompt"] for body in server.bodies} == {f"{prompt} It is" for prompt in QUESTIONS["prompt"]}
    assert asked_shares(QUESTIONS, receipt, tmp_path, ["n"])["mass"].to_list() == pytest.approx([0.7, 0.6, 0.0])
    asked(tmp_path)
    assert len(server.bodies) == 6, "replies that begin otherwise are others"
    with pytest.raises(
        InputError, match=r"found a chat endpoint, which can't prefill the reply with ' It is'; expected key tokenizer"
    ):
        asked(tmp_path, " It is", chat=True)
    assert len(server.bodies) == 6


def test_with_a_tokenizer_ids_are_sent(server: Judge, tmp_path: Path) -> None:
    definition = {"tokenizer": MODEL, "max_model_len": 512}
    assert not sends_texts({**JUDGE, **definition})
    receipt = asked(tmp_path, "It is", **definition)
    assert all(isinstance(body["prompt"], list) for body in server.bodies)
    assert set(receipt["spellings"]) == {"yes", "no"}
    with pytest.raises(InputError, match="tokens; expected fewer than the window's 16"):
        asked(tmp_path / "other", **{**definition, "max_model_len": 16}, questions=with_prompts(
            pl.DataFrame({"n": [1]}), ["one " * 40]))  # fmt: skip


def test_an_endpoint_without_log_probabilities_is_refused_at_its_first_reply(server: Judge, tmp_path: Path) -> None:
    server.quiet = True
    for chat in (False, True):
        server.bodies.clear()
        with pytest.raises(InputError) as error:
            asked(tmp_path, chat=chat)
        assert "found a reply without log-probabilities for its first token; expected " in str(error.value)
        assert "\n" not in str(error.value) and len(server.bodies) == 1
    server.refused, server.quiet = ("logprobs",), False
    with pytest.raises(InputError, match="'logprobs' is not supported"):
        asked(tmp_path)
    assert not list(tmp_path.rglob("*.parquet"))


def test_what_is_finished_is_kept_and_the_rest_asked(server: Judge, tmp_path: Path) -> None:
    server.refusals = [200, 400]
    with pytest.raises(InputError, match="BadRequestError"):
        asked(tmp_path, concurrency=1)
    assert len(server.bodies) == 2
    receipt = asked(tmp_path)
    assert (receipt["cached"], receipt["made"], len(server.bodies)) == (2, 4, 4)


def test_words_that_are_one(server: Judge, tmp_path: Path) -> None:
    asker = EngineAsker(JUDGE, "f", tmp_path, 1)
    with pytest.raises(InputError, match="found words that differ only by a leading space: 'yes', ' yes'"):
        ask_words(QUESTIONS, ["yes", " yes"], "", asker)


def test_a_thinking_judge_is_refused_before_any_request(server: Judge, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found a reasoning model .*expected chat_template_kwargs.* thinking: none"):
        asked(tmp_path, thinking=["<think>", "</think>"])
    assert server.bodies == []


def test_its_store_is_its_own(server: Judge, tmp_path: Path) -> None:
    receipt = asked(tmp_path)
    rows = pl.concat([pl.read_parquet(part) for part in LikelihoodStore(tmp_path, receipt["fingerprint"]).parts()])
    assert rows.height == 6 and rows["logprob"].is_infinite().sum() == 3
    for keys in ({"base_url": "http://a/v1"}, {"chat": True}, {"model": "other"}, {"extra_body": {"a": 1}}):
        assert likelihood_fingerprint({**JUDGE, **keys}) != receipt["fingerprint"]
    assert likelihood_fingerprint({**JUDGE, "temperature": 0.9, "max_tokens": 3}) == receipt["fingerprint"]
