"""eRAG: a passage is as relevant as the answer that the generator makes with it alone is good.

Source: Salemi and Zamani, Evaluating Retrieval Quality in Retrieval-Augmented Generation, SIGIR 2024. In a study it is
one annotation source among several; ``ragrelay.erag.library`` is for use from Python, without a study:

    from ragrelay.erag.library import evaluate
    found = evaluate(run, queries, texts, generate, score, measures=["P", "nDCG"], ks=[5])
"""
