"""Prompting: templates, and contexts laid out by them."""
