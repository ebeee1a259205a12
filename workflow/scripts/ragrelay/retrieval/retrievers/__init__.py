"""The kinds of retrievers, one in each module."""
