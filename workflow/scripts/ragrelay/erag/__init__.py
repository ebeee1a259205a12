"""eRAG: a passage is as relevant as the answer that the generator makes with it alone is good.

Source: Salemi and Zamani, Evaluating Retrieval Quality in Retrieval-Augmented Generation, SIGIR 2024. From Python:

    from ragrelay.erag import evaluate
    found = evaluate(run, queries, texts, generate, score, measures=["P", "nDCG"], ks=[5])
"""

from ragrelay.erag.library import Evaluation, evaluate, label_passages
from ragrelay.erag.measures import measure_labels

__all__ = ["Evaluation", "evaluate", "label_passages", "measure_labels"]
