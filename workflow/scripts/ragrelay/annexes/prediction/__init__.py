"""Predict utility and answer quality without judgements (query performance prediction for RAG)."""
