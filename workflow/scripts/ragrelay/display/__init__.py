"""Shared by all pages and figures: numbers as text, colours, charts, templates."""
