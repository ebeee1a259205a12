"""Define what several stages share, such as names, columns, orderings and measures."""
