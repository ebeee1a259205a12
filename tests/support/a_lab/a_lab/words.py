"""Words of texts."""


def words(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split())
