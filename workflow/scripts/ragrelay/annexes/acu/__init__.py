"""Measure how far evidence shifts a model's verdicts on claims (ACU; Hagström et al., ACL 2025)."""
