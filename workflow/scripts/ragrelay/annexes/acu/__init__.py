"""Measure how far evidence for claims moves a model (ACU; Hagström et al., ACL 2025)."""
