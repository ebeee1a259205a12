"""Check that a converted model can read English, because a faulty conversion raises no error.

The check runs when the model first starts, on a text that contains a page twice. A working model can predict the second
copy. With SmolLM2-135M-Instruct (Q4_1), the copies' perplexities are 20 and 1.1 after a correct conversion. Faulty
conversions gave 1,000,000 for both copies (shuffled layers), 2,000 and 1,900 (exchanged query and key), 16,000 for both
(reversed values), above 700,000 and 1,000,000 (exchanged gate and up, or 1 added to every norm), 100 and 130 to 180
(rows of query and key in the order before or after llama.cpp's permutation), 260 and 490 (rotations four times as
fast), and 12,000 and 1.9 (embeddings shifted by one token). The check doesn't detect two exchanged neighbouring layers
(25 and 1.1), one layer with random queries (22 and 1.1) or rotations with base 10,000 instead of 100,000 (23 and 1.1).
"""

import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_json
from ragrelay.base.io.cache_mode import read_only
from ragrelay.base.models.gguf_conversion import KEY
from ragrelay.base.vocabulary.generator_entry import GeneratorEntry
from ragrelay.generation.tokens import load_tokenizer, plain_ids

log = logging.getLogger(__name__)

READ = "reading.json"
MOST = (1000.0, 10.0)
"""The highest allowed perplexities of the first and second copy."""
SHORTEST = 64
"""Minimum number of tokens in a copy; a small window shortens the copies."""
PAGE = """\
The bridge over the river was built in 1890. It is made of stone, and it carries the road from the old town to \
the railway station. In spring, when the snow in the mountains melts, the water rises so high that it almost \
reaches the arches. People stand there in the evening and watch the boats. Last year the council decided to \
repair it, because the stones had become loose. The work will take two years and cost about three million euros. \
During that time, cars have to use another bridge further north, but people can still walk across.

A baker in the town had three ovens. The oldest was heated with wood, and he used it for bread alone. The second \
was for cakes, and the third, which he had bought from a school, stood in the yard and was used only before \
holidays. When the electricity failed one winter, people came to him from the whole valley, since he could still \
bake. He wrote down every loaf in a book with a green cover: on the first day 212, on the second 340, on the \
third more than 500. The book is in the museum now, next to a photograph of the snow.

"""


def check_reading(generator: GeneratorEntry, window: int, finished: Callable[[Iterator[Any]], Any]) -> None:
    """Raise InputError if a converted model can't read PAGE; otherwise, write the perplexities to the model's folder.

    ``window``: the engine's window in tokens; if two copies of the page don't fit, the page is shortened. ``finished``:
    VllmEngine.finished, which runs requests.
    """
    folder = Path(generator[KEY]["path"])  # type: ignore[literal-required]
    if (folder / READ).is_file():
        return
    from vllm import SamplingParams

    tokenizer = load_tokenizer(generator)
    begin = tokenizer("")["input_ids"][:1]
    page = plain_ids(tokenizer, PAGE)[: (window - 1 - len(begin)) // 2]
    if len(page) < SHORTEST:
        log.warning("%s: a window of %d tokens is too small to check that the model reads its prompt", folder, window)
        return
    ids = [*begin, *page, *page]
    asked = iter([(None, ids, SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0))])
    ((_, output),) = finished(asked)
    scores = [logprobs[token].logprob for token, logprobs in zip(ids[1:], output.prompt_logprobs[1:], strict=True)]
    first, second = (perplexity(part) for part in (scores[: -len(page)], scores[-len(page) :]))
    if not (first <= MOST[0] and second <= MOST[1]):
        raise InputError(
            f"generator model {generator['model']!r}",
            f"perplexities of {first:.4g} on a page of English and {second:.4g} on its repetition, which suggests "
            "a faulty conversion",
            f"at most {MOST[0]:g} and {MOST[1]:g}; try the original model's folder instead of the GGUF file",
        )
    log.info("%s: perplexity is %.4g on a page of English and %.4g when it is repeated", folder, first, second)
    if not read_only():
        write_json({"page": first, "repetition": second}, folder / READ)


def perplexity(logprobs: list[float]) -> float:
    """Compute a text's perplexity from its tokens' log-probabilities (nats); infinity if one of them isn't finite."""
    mean = -sum(logprobs) / len(logprobs)
    return math.exp(min(mean, 700.0)) if math.isfinite(mean) else math.inf
