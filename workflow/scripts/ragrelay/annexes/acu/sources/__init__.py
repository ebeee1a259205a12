"""Define the sources of claims, one in each module."""
