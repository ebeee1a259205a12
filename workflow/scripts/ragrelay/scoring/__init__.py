"""Score how close every answer is to every reference of its query, computing each pair once."""
