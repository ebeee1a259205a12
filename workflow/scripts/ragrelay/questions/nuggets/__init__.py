"""Write and read lists of nuggets (facts that a good answer states) per query, and score answers by them."""
