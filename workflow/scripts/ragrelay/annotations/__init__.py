"""Annotation sources: labels of retrieved passages by several notions of relevance, and how they follow the answers."""
