"""Train the demo model from its seeded start (about 40 minutes of two CPU cores).

Usage: python train.py WORK_FOLDER [--steps N] [--start FOLDER] [--zeroshot SHARE] ...

Needs WORK_FOLDER/passages.jsonl and WORK_FOLDER/tokenizer/. Writes WORK_FOLDER/checkpoint/
every --save steps, by another name first, so that it can be read at any time.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import vocabulary
from evaluate import report
from make_examples import Example, ExampleMaker
from model_init import build, config
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, AutoTokenizer

TOKENS_A_STEP = 4096
WARM_UP = 100


def batches(maker: ExampleMaker, args: argparse.Namespace) -> Iterator[list[Example]]:
    """Endless batches of up to TOKENS_A_STEP padded tokens, each of examples of like length."""
    order = random.Random(args.seed + 1)
    while True:
        pool = [maker.draw(args.zeroshot, args.random) for _ in range(192)]
        pool = sorted((e for e in pool if len(e.ids) <= 1400), key=lambda e: len(e.ids))
        ready: list[list[Example]] = [[]]
        for example in pool:
            if (len(ready[-1]) + 1) * len(example.ids) > TOKENS_A_STEP:
                ready.append([])
            ready[-1].append(example)
        order.shuffle(ready)
        yield from ready


def loss_of(model, batch: list[Example], first_weight: float) -> torch.Tensor:
    """Mean cross-entropy (nats a token) of the answers; their first 3 tokens weigh more.

    Only the answers' positions go through the output layer: it is a third of the work otherwise.
    """
    longest = max(len(e.ids) for e in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    weights = torch.zeros(len(batch), longest)
    for i, example in enumerate(batch):
        ids[i, : len(example.ids)] = torch.tensor(example.ids)
        weights[i, example.start : len(example.ids)] = 1.0
        weights[i, example.start : example.start + 3] = first_weight
    with torch.autocast("cpu", dtype=torch.bfloat16):
        # Padding stands on the right and attention is causal: no mask is needed.
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
        wanted = weights[:, 1:] > 0
        logits = model.lm_head(hidden[:, :-1][wanted])
    losses = cross_entropy(logits.float(), ids[:, 1:][wanted], reduction="none")
    w = weights[:, 1:][wanted]
    return (losses * w).sum() / w.sum()


def optimizer_of(model, args: argparse.Namespace) -> torch.optim.Optimizer:
    """AdamW without decay; attention and embeddings, which hold the circuit, learn slower."""
    seeded = [p for n, p in model.named_parameters() if "self_attn" in n or "embed" in n]
    ids = {id(p) for p in seeded}
    others = [p for p in model.parameters() if id(p) not in ids]
    groups = [{"params": seeded, "rate": 0.5 * args.rate}, {"params": others, "rate": args.rate}]
    return torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.99), weight_decay=0.0)


def save(model, folder: Path) -> None:
    """Save beside and rename."""
    temporary = folder.with_name(folder.name + ".tmp")
    model.save_pretrained(temporary)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.rename(folder)


def start_model(args: argparse.Namespace, tokenizer, maker: ExampleMaker):
    """The seeded model, or the one to go on with."""
    if args.start:
        return AutoModelForCausalLM.from_pretrained(args.start)
    size = len(tokenizer)
    longer = (e for e in (maker.passage_example(5) for _ in range(1000)) if len(e.ids) > 150)
    probe = torch.tensor([e.ids[:150] for e, _ in zip(longer, range(8), strict=False)])
    pieces = tokenizer.convert_ids_to_tokens(list(range(size)))
    conf = config(size, tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    return build(
        conf,
        tokenizer.convert_tokens_to_ids,
        vocabulary.PARTS,
        vocabulary.rarity(maker.ids, size),
        vocabulary.stems(pieces),
        probe,
    )


def main(args: argparse.Namespace) -> None:
    """Train, measure and save now and then."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.work / "tokenizer")
    maker = ExampleMaker(args.work, tokenizer, args.seed)
    held_out = maker.held_out_twin(args.seed + 2)
    model = start_model(args, tokenizer, maker).train()
    optimizer = optimizer_of(model, args)
    stream = batches(maker, args)
    began, tokens, running = time.time(), 0, []
    for step in range(1, args.steps + 1):
        share = max(step / args.steps, (time.time() - began) / 60 / args.minutes)
        if share > 1:
            break
        factor = min(1.0, step / WARM_UP) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * factor
        batch = next(stream)
        loss = loss_of(model, batch, args.first_weight)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        tokens += sum(len(e.ids) for e in batch)
        running.append(float(loss.detach()))
        if step % 25 == 0:
            print(
                f"step {step} loss {sum(running) / len(running):.3f} tokens {tokens} seconds {time.time() - began:.0f}",
                flush=True,
            )
            running = []
        if step % args.save == 0:
            save(model, args.work / args.output)
    save(model, args.work / args.output)
    figures = report(model, held_out, each=args.each)
    print(" ".join(f"{k} {v:.2f}" for k, v in figures.items()), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=1e9, help="end by this time (cosine too)")
    parser.add_argument("--start", type=Path, help="go on from this checkpoint")
    parser.add_argument("--output", default="checkpoint")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--zeroshot", type=float, default=0.75, help="share of examples")
    parser.add_argument("--random", type=float, default=0.15, help="share of random-token copies")
    parser.add_argument("--first-weight", type=float, default=4.0)
    parser.add_argument("--save", type=int, default=250)
    parser.add_argument("--each", type=int, default=24, help="held-out examples a measure")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    main(parser.parse_args())
