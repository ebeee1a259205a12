"""Ask models a study's questions: prompts, each job's engine, and the tables made from the replies."""
