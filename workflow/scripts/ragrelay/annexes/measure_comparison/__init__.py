"""Compare retrieval measures by how closely they track answer quality."""
