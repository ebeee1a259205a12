"""What a GPU makes of a study: generation, published ceilings, the paper's grid, BERTScore, batch invariance.

    python benchmarks/gpu.py --out gpu.json

Models have the shape of Llama 3.1 8B (FP8) and of bert-large with drawn weights, so that nothing is downloaded; texts
are drawn too. It goes in pieces. A call does as many as it can in ``--seconds`` and keeps their figures in ``--work``;
the same command goes on from there, and writes the JSON when all are done. The paper's grid is a piece that may take
several calls: its jobs keep their answers, and its seconds are added up. On a machine without a GPU, ``--size toy
--encoder toy`` and small numbers run the same on CPU, which says nothing about speed (tests/unit/project/test_gpu.py).
``--pieces bertscore`` does that piece alone, which needs torch and neither vLLM nor Snakemake's jobs.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
import yaml

from benchmarks.shared import record
from benchmarks.shared.dummy_models import ENCODERS, GENERATORS, write_encoder, write_generator
from benchmarks.shared.gpu_pieces import batch_invariance, bertscore, ceiling, generation
from benchmarks.shared.pieces import Pieces
from benchmarks.shared.record import Figure
from benchmarks.shared.synthetic import write_collection
from benchmarks.shared.workflow import ROOT, link_workflow, write_overlay

# TensorRT-LLM's published answer tokens per second: Llama 3.1 8B in FP8 on one H200, by tokens in and out.
PUBLISHED = {(1000, 1000): 17_744, (2048, 128): 3_538}
MINUTES = 20
RUNS = {"poor": 0.1, "middling": 0.5, "fair": 0.8, "good": 0.95, "best": 1.0}


def definition(model: Path, size: str) -> dict[str, Any]:
    """A generator with all keys, as the paper decodes."""
    from ragrelay.config.study import Study  # it needs the providers of measures, which not every piece does

    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    base = Study(config, ROOT, [ROOT / "config/prompts"]).generator("demo-lm")
    large = {"dtype": "bfloat16", "quantization": "fp8", "max_tokens": 300, "max_model_len": 4096}
    small = {"dtype": "float32", "max_tokens": 4}
    more = small if size == "toy" else large
    return {**base, "model": str(model), "load_format": "dummy", "threads": 4, **more}


def grid(folder: Path, given: Any, generator: Mapping[str, Any], encoder: Path, before: float, seconds: float) -> Any:
    """The paper's grid on drawn texts, for so many ``seconds``; its figure once it is done."""
    keys = ("model", "dtype", "quantization", "max_tokens", "max_model_len", "load_format", "threads")
    study = {
        "study": "grid",
        "grid": {
            "datasets": ["drawn"], "retrievers": list(RUNS)[: given.retrievers],
            "orderings": ["descending", "ascending"], "k": list(range(1, given.k + 1)),
            "seeds": list(range(1, given.seeds + 1)), "generators": ["dummy"], "scorers": ["drawn-encoder"],
        },
        "datasets": {"drawn": {"source": "local", "path": "drawn", "references": {"relevant": 1}}},
        "retrievers": {name: {"kind": "run", "path": f"drawn/{name}.run"} for name in RUNS},
        "generators": {"dummy": {**{key: generator[key] for key in keys if key in generator}, "prompt": "tian2025"}},
        "scorers": {"drawn-encoder": {"kind": "bertscore", "model": str(encoder), "layer": given.layer}},
        "analysis": {"reference_retriever": next(iter(RUNS))},
    }  # fmt: skip
    if not (folder / "drawn").exists():
        folder.mkdir(parents=True, exist_ok=True)
        link_workflow(folder)
        write_collection(folder / "drawn", given.queries, RUNS)
    write_overlay(folder, study)
    # One job at a time has the GPU.
    local = ("--profile", "profiles/local", "--configfile", "overlay.yaml")
    command = [sys.executable, "-m", "snakemake", given.target, *local]
    began = time.monotonic()
    with (folder / "printed.txt").open("a") as printed:
        process = subprocess.Popen(command, cwd=folder, stdout=printed, stderr=printed, start_new_session=True)
        try:
            process.wait(timeout=max(1.0, seconds))
        except subprocess.TimeoutExpired:
            # As Ctrl-C does: jobs keep the answers that they have made.
            os.killpg(process.pid, signal.SIGINT)
            process.wait()
            return None
    if process.returncode:
        raise RuntimeError(f"the grid failed: see {folder}/printed.txt")
    took = before + time.monotonic() - began
    return {
        "the paper's grid, from the collection to the page": record.figure(took / 60, "min", goal=f"<= {MINUTES}"),
        "queries of the grid": record.figure(given.queries),
    }


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--work", type=Path, default=Path("cache/benchmarks/gpu"), help="where pieces are kept")
    parser.add_argument("--seconds", type=float, default=540, help="of this call")
    parser.add_argument("--pieces", nargs="+", metavar="PIECE", help="these alone")
    parser.add_argument("--size", choices=list(GENERATORS), default="8b")
    parser.add_argument("--encoder", choices=list(ENCODERS), default="bert-large")
    parser.add_argument("--layer", type=int, default=18)
    parser.add_argument("--queries", type=int, default=97, help="of the grid, as TREC DL 2019 and 2020 together")
    parser.add_argument("--prompts", type=int, default=400, help="of k = 5, 5 seeds each")
    parser.add_argument("--requests", type=int, default=1024, help="per published ceiling")
    parser.add_argument("--tokens", type=int, nargs="+", default=[1000, 1000, 2048, 128], help="in and out, by ceiling")
    parser.add_argument("--k", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--retrievers", type=int, default=len(RUNS))
    parser.add_argument("--answers", type=int, default=150, help="per query, for BERTScore")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", default="report", help="of the grid")
    given = parser.parse_args()
    on_gpu = torch.cuda.is_available()
    device = torch.cuda.get_device_name(0) if on_gpu else "CPU"
    other = ("out", "work", "seconds", "pieces", "started")
    sizes = {name: value for name, value in vars(given).items() if name not in other}
    kept = Pieces(given.work, {**sizes, "device": device})
    alone = given.pieces == ["bertscore"]
    model = write_generator(given.work.resolve() / f"generator-{given.size}", given.size)
    generator = {} if alone else definition(model, given.size)
    encoder = write_encoder(given.work.resolve() / f"encoder-{given.encoder}", given.encoder)
    shapes = list(zip(given.tokens[::2], given.tokens[1::2], strict=True))
    # Goals are for the sizes that they were set for.
    published = PUBLISHED if given.size == "8b" else {}
    pieces = {
        "generation": partial(generation, generator, given.prompts, given.rounds, on_gpu),
        **{
            f"{into} tokens in, {out} out": partial(ceiling, generator, given.requests, into, out, published)
            for into, out in shapes
        },
        "bertscore": partial(bertscore, encoder, given.layer, given.answers, given.rounds, given.work.resolve()),
        "batch invariance": partial(batch_invariance, generator, given.prompts, on_gpu),
        "grid": partial(
            grid, given.work.resolve() / "grid", given, generator, encoder, kept.seconds("grid")
        ),
    }  # fmt: skip
    if unknown := [name for name in given.pieces or () if name not in pieces]:
        parser.error(f"--pieces: found {unknown[0]!r}; expected some of {', '.join(pieces)}")
    wanted = {name: piece for name, piece in pieces.items() if given.pieces is None or name in given.pieces}
    if not kept.run(wanted, given.seconds):
        print(f"Not all is done; the same command goes on ({given.work}).")
        return
    setting = (
        f"{device}; {given.size}-sized generator, {given.encoder}-sized encoder, "
        f"random weights and texts; {given.prompts} prompts of 5 passages × 5 seeds; grid: {given.retrievers} runs × "
        f"2 orderings × k up to {given.k} × {given.seeds} seeds"
    )
    if given.pieces:
        setting += f"; measured: only {', '.join(given.pieces)}"
    figures: dict[str, Figure] = kept.figures()
    record.write_record(given, setting, figures, ["torch", "transformers", "bert-score"])


if __name__ == "__main__":
    main()
