"""Answers that were made elsewhere as a study's own, and a study's answers for programs elsewhere."""
