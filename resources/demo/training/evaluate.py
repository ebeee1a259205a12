"""Quick measures while training: does the model answer from the target passage?"""

from __future__ import annotations

import torch
from make_examples import Example, ExampleMaker


@torch.no_grad()
def greedy(model, prompts: list[list[int]], most: int, stop: int) -> list[list[int]]:
    """Greedy continuations, one prompt at a time (no padding); the stop token is left out."""
    answers = []
    for prompt in prompts:
        out = model.generate(
            torch.tensor([prompt]),
            max_new_tokens=most,
            do_sample=False,
            eos_token_id=stop,
            pad_token_id=0,
        )[0, len(prompt) :].tolist()
        answers.append(out)
    return answers


def overlap(answer: list[int], target: list[int]) -> float:
    """F1 of token multisets."""
    rest = list(target)
    same = 0
    for token in answer:
        if token in rest:
            rest.remove(token)
            same += 1
    return 2 * same / max(1, len(answer) + len(target))


@torch.no_grad()
def first_token_accuracy(model, examples: list[Example]) -> float:
    """Share of examples whose first answer token is predicted: was the right passage voted?"""
    right = 0
    for example in examples:
        logits = model(torch.tensor([example.ids[: example.start]])).logits[0, -1]
        right += int(logits.argmax() == example.ids[example.start])
    return right / len(examples)


@torch.no_grad()
def copy_accuracy(model, examples: list[Example]) -> float:
    """Share of answer tokens after the first (STOP left out) predicted under teacher forcing."""
    right = total = 0
    for example in examples:
        pred = model(torch.tensor([example.ids])).logits[0].argmax(-1)
        want = torch.tensor(example.ids)
        hits = pred[example.start : -3] == want[example.start + 1 : -2]
        right += int(hits.sum())
        total += len(hits)
    return right / max(1, total)


def report(model, maker: ExampleMaker, each: int = 40, most: int = 100) -> dict[str, float]:
    """Measures on held-out passages, by k; `F1` is of the greedy answer against the target's."""
    was_training = model.training
    model.eval()
    stop = maker.piece[" STOP"]
    found: dict[str, float] = {}
    for k in (0, 1, 2, 5):
        examples = [maker.passage_example(k) for _ in range(each)]
        answers = greedy(model, [e.ids[: e.start] for e in examples], most, stop)
        ended = [a[-1] == stop for a in answers]
        f1 = [overlap([t for t in a if t != stop], e.ids[e.start : -2]) for a, e in zip(answers, examples, strict=True)]
        found[f"F1@{k}"] = sum(f1) / each
        found[f"stop@{k}"] = sum(ended) / each
        if k:
            found[f"first@{k}"] = first_token_accuracy(model, examples)
    model.train(was_training)
    return found
