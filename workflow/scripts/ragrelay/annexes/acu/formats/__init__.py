"""Define the formats of local claims, one in each module."""
