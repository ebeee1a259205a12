"""Ask models a study's questions: build the prompts, run each job's engine, and turn the replies into tables."""
