"""Answers judged by a generator: what it is asked about each, and the scores that its probabilities give."""
