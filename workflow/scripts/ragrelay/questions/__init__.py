"""Ask models the questions of a study: their prompts, the engine of each job, and the tables made from the replies."""
