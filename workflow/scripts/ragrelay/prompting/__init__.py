"""Read prompt templates, and build prompts from them."""
