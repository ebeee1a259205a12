"""Provide what all pages and figures share: numbers as text, colours, charts, templates."""
