"""Evaluate rankings with eRAG: a passage's relevance is the quality of the answer generated from that passage alone.

See Salemi and Zamani, Evaluating Retrieval Quality in Retrieval-Augmented Generation, SIGIR 2024. In a study, eRAG is
an annotation source. To use eRAG from Python without a study, use ``ragrelay.erag.library``:

    from ragrelay.erag.library import evaluate
    evaluation = evaluate(run, queries, texts, generate, score, measures=["P", "nDCG"], ks=[5])
"""
