"""Questions to a model: their prompts, the one engine that each job asks, and the tables made from the replies."""
