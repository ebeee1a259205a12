"""Have a generator judge answers: ask it about each answer, and compute scores from its word probabilities."""
