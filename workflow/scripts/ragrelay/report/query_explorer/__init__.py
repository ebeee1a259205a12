"""Write the query explorer's data: a file per query with all passages, answers and scores."""
