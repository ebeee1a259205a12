"""Compare retrieval measures by how closely they follow the answers."""
