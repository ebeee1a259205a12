"""Send a study's questions to models: build prompts, run each job's engine, and turn the replies into tables."""
