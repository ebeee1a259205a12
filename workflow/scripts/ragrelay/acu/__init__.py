"""Context use: how far the evidence moves a model that judges claims (Hagström et al., ACL 2025)."""
