"""Score every answer against each of its query's references. Every pair is scored only once."""
