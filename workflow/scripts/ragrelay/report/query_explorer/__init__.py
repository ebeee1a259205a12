"""Write the query explorer's data: one file per query, with all its prompts, answers and scores."""
