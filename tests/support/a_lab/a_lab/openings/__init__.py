"""How answers begin."""
