"""Scoring: how close every answer is to every reference of its query, each pair computed once."""
