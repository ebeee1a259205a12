"""Have a generator judge answers, and compute scores from the probabilities of the reply words."""
