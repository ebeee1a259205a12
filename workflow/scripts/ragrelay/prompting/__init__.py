"""Read prompt templates and lay out contexts as prompts."""
