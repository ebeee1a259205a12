"""Compute teacher-forced scores: log-probabilities of given continuations of prompts."""
