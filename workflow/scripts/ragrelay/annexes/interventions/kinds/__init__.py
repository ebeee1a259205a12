"""The kinds of interventions, a module each."""
