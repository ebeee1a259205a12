"""Locate and check models, whether in a package, in a local folder or on a hub."""
