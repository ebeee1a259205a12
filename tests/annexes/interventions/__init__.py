"""Tests of the annex of interventions."""
