"""Let a generator judge answers: the questions about each answer, and the scores computed from its probabilities."""
