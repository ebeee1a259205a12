"""Penalties and scores of tokens: vLLM's answers equal those of hand-made logits, greedy and sampled."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from ragrelay.generation.engine import VllmEngine, _scores, output_row
from ragrelay.generation.generator import Request
from ragrelay.generation.token_scores import CANDIDATES
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.generation.vllm_plugins import RecentTokens, RecentTokensV2, penalised
from transformers import AutoModelForCausalLM
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate, MoveDirectionality
from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext, LogitsProcRequestState

pytestmark = pytest.mark.engine

PROMPTS = ["tea is grown on hills in the cool rain", "the heart pumps blood", "rain"]
LENGTH = 16
WINDOW = {"repetition_penalty": 6.0, "repetition_window": 6}
CASES: dict[str, dict[str, Any]] = {
    "none": {},
    "window": WINDOW,
    "longer than prompt and answer": {**WINDOW, "repetition_window": 400},
    "vLLM's own": {"repetition_penalty": 6.0},
    "the answer's": {"presence_penalty": 0.2, "frequency_penalty": 0.1},
    "all": {"repetition_penalty": 0.9, "repetition_window": 6, "presence_penalty": 0.1, "frequency_penalty": 0.05},
}


def test_hand_made_logits() -> None:
    """Positive ones are divided and others multiplied, a token once; the second row's penalty does nothing."""
    logits = torch.tensor([[2.0, -2.0, 0.0, 3.0, 1.0], [2.0, -2.0, 0.0, 3.0, 1.0]])
    found = penalised(logits, torch.tensor([[1, 0, 0, 2], [4, 3, 1, 0]]), torch.tensor([2.0, 1.0]))
    assert found.tolist() == [[1.0, -4.0, 0.0, 3.0, 1.0], [2.0, -2.0, 0.0, 3.0, 1.0]]


def by_hand(logits: torch.Tensor, tokens: list[int], penalty: float, window: int) -> list[float]:
    """One row of ``logits``, token by token."""
    recent = set(tokens[max(0, len(tokens) - window) :])
    values = enumerate(logits.tolist())
    return [value if i not in recent else value / penalty if value > 0 else value * penalty for i, value in values]


def asking(penalty: float, window: int) -> SamplingParams:
    return SamplingParams(extra_args={"recent_penalty": penalty, "recent_window": window})


def test_rows_of_a_batch_that_changes() -> None:
    """Requests come, move, swap and end as vLLM says; a row is penalised by its own prompt and growing answer."""
    chance = torch.Generator().manual_seed(0)
    texts = {"a": ([1, 2, 3, 4], [5, 6]), "b": ([7, 8], [9]), "c": ([2, 2], []), "d": ([0, 1], [3])}
    asked = {"a": (1.5, 3), "b": (1.2, 8), "c": (0.5, 1), "d": None}
    processor = RecentTokens(None, torch.device("cpu"), False)
    rows: list[str] = []

    def check() -> None:
        logits = torch.randn(len(rows), 10, generator=chance)
        expected = [
            by_hand(row, [*texts[name][0], *texts[name][1]], *asked[name]) if asked[name] else row.tolist()
            for row, name in zip(logits, rows, strict=True)
        ]
        torch.testing.assert_close(processor.apply(logits.clone()), torch.tensor(expected), atol=1e-6, rtol=0)

    def update(names: str, added: str = "", removed: tuple[int, ...] = (), moved: tuple[Any, ...] = ()) -> None:
        parameters = {name: asking(*asked[name]) if asked[name] else SamplingParams() for name in asked}
        new = [(names.index(name), parameters[name], *texts[name]) for name in added]
        processor.update_state(BatchUpdate(len(names), removed, new, moved))
        rows[:] = names
        check()

    update("abd", added="abd")
    for name in "abd":
        texts[name][1].append(2)
    processor.update_state(None)
    check()
    update("bad", moved=((0, 1, MoveDirectionality.SWAP),))
    update("bcd", added="c")
    update("dc", removed=(0,), moved=((2, 0, MoveDirectionality.UNIDIRECTIONAL),))
    assert not processor.is_argmax_invariant(), "or greedy answers would not be penalised"


def test_the_second_model_runner() -> None:
    """Its processor reads the tokens of a slot by the row's place; a slot's next request has its own penalty."""
    texts = [[1, 2, 3, 4, 5, 6], [7, 8, 9], [0, 1, 3]]
    tokens = torch.zeros(4, 16, dtype=torch.int32)
    for slot, text in enumerate(texts, start=1):
        tokens[slot, : len(text)] = torch.tensor(text, dtype=torch.int32)
    none: Any = None
    held: Any = SimpleNamespace(gpu=tokens)
    state = LogitsProcRequestState(torch.device("cpu"), 4, 10, held, none, none, none)
    processor = RecentTokensV2(None, state)
    processor.add_request(2, asking(9.0, 9))
    asked = [(1.5, 3), (1.2, 8), None]
    for slot, one in enumerate(asked, start=1):
        assert processor.add_request(slot, asking(*one) if one else SamplingParams()) == (one is not None)
    order = [2, 3, 1]
    slots = torch.tensor(order, dtype=torch.int32)
    places = torch.tensor([len(texts[slot - 1]) - 1 for slot in order])
    context = LogitsContext(slots, slots, slots.numpy(), torch.zeros(3), tokens[slots.long(), places], places, none)
    logits = torch.randn(3, 10, generator=torch.Generator().manual_seed(0))
    expected = [
        by_hand(row, texts[slot - 1], *(asked[slot - 1] or (1.0, 1))) for row, slot in zip(logits, order, strict=True)
    ]
    torch.testing.assert_close(processor.apply(logits.clone(), context), torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest, tiny_llama: Any) -> Iterator[VllmEngine]:
    """An engine with the processor; a request says whether it is penalised, and how."""
    definition = {
        "engine": "vllm", "model": str(tiny_llama), "dtype": "float32", "temperature": 0.0, "top_k": 0, "top_p": 1.0,
        "min_p": 0.0, "max_tokens": LENGTH, "stop": [], "prefix_caching": True, "max_num_seqs": 4,
        "tensor_parallel_size": 1, "gpu_memory_utilization": 0.9, "cpu_kvcache_gib": 1, "trust_remote_code": False,
        "load_format": "auto", "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0,
        "min_tokens": LENGTH, "batch_invariant": False,
    }  # fmt: skip
    made = VllmEngine({**definition, **WINDOW}, 512, threads=1)
    made.generator = definition
    yield made


def answer(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any]) -> dict[tuple[str, int], Any]:
    """The rows of PROMPTS, two seeds each, by prompt and seed, with the ``tokens`` of the answers."""
    tokenizer = load_tokenizer(engine.generator)
    ids = [tuple(tokenizer(prompt)["input_ids"]) for prompt in PROMPTS]
    requests = [Request(prompt, seed, given) for prompt, given in zip(PROMPTS, ids, strict=True) for seed in (1, 2)]
    with monkeypatch.context() as patch:
        patch.setattr(engine, "generator", {**engine.generator, **keys})
        asked = ((request, request.token_ids, engine._parameters(request.seed)) for request in requests)
        done = list(engine.finished(asked))
        made = [({**output_row(*one), **_scores(one[1])}, list(one[1].outputs[0].token_ids)) for one in done]
    return {(row["prompt_id"], row["seed"]): {**row, "tokens": tokens} for row, tokens in made}


def greedy(engine: VllmEngine, prompt: str, keys: dict[str, Any]) -> tuple[list[int], *tuple[list[float], ...]]:
    """Transformers' logits penalised by hand, the likeliest token each time.

    Tokens; of each the log-probability, the entropy and the margin of the two likeliest, all before penalties.
    """
    model = AutoModelForCausalLM.from_pretrained(engine.generator["model"], dtype=torch.float32)
    tokenizer = load_tokenizer(engine.generator)
    given = tokenizer(prompt)["input_ids"]
    made: list[int] = []
    logprobs, entropies, margins = [], [], []
    for _ in range(LENGTH):
        with torch.no_grad():
            logits = model(torch.tensor([given + made])).logits[0, -1]
        scores = logits.log_softmax(-1)
        logits[tokenizer.eos_token_id] = -torch.inf  # min_tokens
        window = keys.get("repetition_window", len(given + made))
        logits = torch.tensor(by_hand(logits, given + made, keys.get("repetition_penalty", 1.0), window))
        for token in set(made):
            logits[token] -= keys.get("presence_penalty", 0.0) + made.count(token) * keys.get("frequency_penalty", 0.0)
        made.append(int(logits.argmax()))
        logprobs.append(float(scores[made[-1]]))
        likeliest, second = scores.topk(2).values
        margins.append(float(likeliest - second))
        shares = scores.exp().sort(descending=True).values[:CANDIDATES]
        shares = shares / shares.sum()
        entropies.append(float(-(shares * shares.log()).sum()))
    return made, logprobs, entropies, margins


@pytest.mark.parametrize("case", CASES)
def test_equal_to_hand_made_logits(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """Answers are greedy, or sampled among one candidate: the penalties come before temperature and top-k.

    Several requests at once, each prompt twice, so that the second takes its prefix from the cache. The scores are of
    the model before penalties.
    """
    keys = CASES[case]
    likeliest = answer(engine, monkeypatch, keys)
    sampled = answer(engine, monkeypatch, {**keys, "temperature": 0.7, "top_k": 1})
    assert len(likeliest) == len(sampled) == 2 * len(PROMPTS)
    for prompt in PROMPTS:
        tokens, logprobs, entropies, margins = greedy(engine, prompt, keys)
        for row in (likeliest[prompt, 1], likeliest[prompt, 2], sampled[prompt, 1], sampled[prompt, 2]):
            assert row["tokens"] == tokens and row["answer_tokens"] == LENGTH
            assert row["token_logprobs"] == pytest.approx(logprobs, abs=1e-4)
            assert row["token_entropies"] == pytest.approx(entropies, abs=1e-4)
            assert row["first_token_margin"] == pytest.approx(margins[0], abs=1e-4)
            assert row["logprob"] == pytest.approx(sum(row["token_logprobs"]), abs=1e-9)


def test_cases_differ(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above must see each key; a window around everything is vLLM's own penalty."""
    made = {
        case: [row["tokens"] for _, row in sorted(answer(engine, monkeypatch, keys).items())]
        for case, keys in CASES.items()
    }
    assert made["longer than prompt and answer"] == made.pop("vLLM's own")
    assert len(set(map(str, made.values()))) == len(made) == 5


def test_penalised_samples_of_a_seed_repeat(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    hot = {**WINDOW, "temperature": 1.5}
    one, again = (answer(engine, monkeypatch, hot) for _ in range(2))
    assert one == {key: {**row, "cached_tokens": one[key]["cached_tokens"]} for key, row in again.items()}
    assert one["rain", 1]["tokens"] != one["rain", 2]["tokens"]
    assert one != answer(engine, monkeypatch, {**hot, "repetition_penalty": 1.01})


def test_min_tokens(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop string doesn't end an answer before it has so many tokens."""
    [text] = {row["answer"] for key, row in answer(engine, monkeypatch, {}).items() if key[0] == "rain"}
    stop = {"stop": [text[:2]]}
    early = answer(engine, monkeypatch, {**stop, "min_tokens": 0})["rain", 1]
    late = answer(engine, monkeypatch, {**stop, "min_tokens": 9})["rain", 1]
    assert early["answer"] == "" and early["answer_tokens"] == len(early["token_entropies"]) < 9
    assert late["answer_tokens"] >= 9
