"""Write and read nugget lists: for each query, the facts that a good answer states."""
