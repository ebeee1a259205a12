"""What answers and scores are like, apart from the question whether relevance is relayed: lengths, cost, spread, places."""
