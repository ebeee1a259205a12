"""Provide rules with a study's files, inputs, params and jobs."""
