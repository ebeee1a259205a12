"""Define names, columns, orderings and measures that several stages use."""
