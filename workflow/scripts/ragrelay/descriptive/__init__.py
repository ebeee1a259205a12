"""What answers and scores are like, whether relevance is relayed or not: lengths, cost, spread, places."""
