"""Write and read each query's nugget list (facts that a good answer states), and score answers against it."""
