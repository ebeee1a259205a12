"""The kinds of datasets, by their source, one in each module."""
