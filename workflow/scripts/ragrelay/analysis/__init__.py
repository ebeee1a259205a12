"""From scores to utility, relevance transmission and paired comparisons."""
