"""Write and read nugget lists (facts that a good answer states) per query, and score answers by them."""
