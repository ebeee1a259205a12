"""The kinds of interventions, one per module."""
