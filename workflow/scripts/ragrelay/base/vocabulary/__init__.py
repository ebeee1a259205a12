"""Define what several stages share: names, columns, orderings and measures."""
