"""Have a generator judge answers: ask questions about each answer and compute scores from its probabilities."""
