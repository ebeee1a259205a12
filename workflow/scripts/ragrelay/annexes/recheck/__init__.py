"""Make some of the stored answers again, and say whether the model still gives them."""
