"""Locate and check models: packaged, in a local folder, or on a hub."""
