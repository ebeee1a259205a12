"""A retriever, a scorer and an annex for ragrelay, as another lab would publish them."""
