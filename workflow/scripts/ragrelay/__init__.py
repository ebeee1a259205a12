"""ragrelay: is relevance relayed from the retriever to the answer?"""

__version__ = "0.1.0"
