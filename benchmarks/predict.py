"""Time every predictor on queries of the demo, its passages drawn at random for their rankings.

    python benchmarks/predict.py --out predict.json

CPU time of one process per 1,000 queries, at three k each, by class of predictors. What several of a query's predictors
share, such as its relevance model or the words of its passages, counts for the first of them in the list.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ragrelay.annexes.prediction.predictor import predictors, valued
from ragrelay.annexes.prediction.subject import Answer, Query, Subject
from ragrelay.annexes.prediction.terms import count_terms, read_terms, terms
from ragrelay.collection.local import LocalCollection

from benchmarks.shared import record

COLLECTION = Path("resources/demo/collection")
KS, SEEDS, DEPTH, RESULTS, DIMENSIONS = (1, 2, 5), 3, 50, 1000, 384


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args()
    seconds: dict[str, float] = {}
    for query, answers in queries(given.queries):
        for predictor in predictors({}):
            began = time.process_time()
            for k in KS if predictor.of_k else KS[:1]:
                valued(predictor, Subject(query, k, answers))
            name = type(predictor).__name__
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - began
    scale = 1000 / given.queries
    figures = {"all predictors": record.figure(scale * sum(seconds.values()), "s")}
    figures |= {name: record.figure(scale * each, "s") for name, each in sorted(seconds.items(), key=lambda x: -x[1])}
    setting = (
        f"Time per 1,000 queries, measured on {given.queries} queries with {RESULTS:,} scores, {DEPTH} passages and "
        f"{SEEDS} answers each; k = {', '.join(map(str, KS))}"
    )
    record.write_record(given, setting, figures, ["numpy", "pyphen", "pysyllables"])


def queries(n: int) -> Iterator[tuple[Query, list[Answer]]]:
    """``n`` queries with answers, made of the demo's texts."""
    collection, random = LocalCollection(COLLECTION), np.random.default_rng(0)
    asked, texts = collection.queries(), [passage["text"] for passage in collection.passages()]
    vectors = {str(place): random.normal(size=DIMENSIONS) for place in range(RESULTS)}
    with tempfile.TemporaryDirectory() as folder:
        receipt = Path(folder) / "receipt.json"
        receipt.write_text(json.dumps(count_terms(collection, asked, folder)))
        words = {word for text in [*texts, *asked["query"]] for word in terms(text)}
        statistics = read_terms(receipt, folder, words)
    for place in range(n):
        shown = [texts[chosen] for chosen in random.integers(0, len(texts), DEPTH)]
        scores = np.sort(random.gamma(2.0, 5.0, RESULTS))[::-1]
        logprobs, entropies = (random.gamma(1.0, 0.5, (SEEDS, 60)) for _ in range(2))
        answers = [
            Answer(seed, shown[seed][:300], 60, -float(one.sum()), (-one).tolist(), other.tolist(), float(one[0]))
            for seed, (one, other) in enumerate(zip(logprobs, entropies, strict=True))
        ]
        text = asked["query"][place % len(asked)]
        yield (
            Query(
                str(place), text, statistics, list(vectors), scores, shown, scores[:DEPTH], answers,
                random.normal(size=DIMENSIONS), vectors,
            ),
            answers,
        )  # fmt: skip


if __name__ == "__main__":
    main()
