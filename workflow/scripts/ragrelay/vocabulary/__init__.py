"""Words that several stages share: orderings and measures."""
