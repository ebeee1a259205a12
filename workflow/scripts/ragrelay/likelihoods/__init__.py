"""Teacher-forced scores: log-probabilities of given continuations of prompts."""
