"""Claims with evidence: measure how far the evidence moves a model (ACU; Hagström et al., ACL 2025)."""
