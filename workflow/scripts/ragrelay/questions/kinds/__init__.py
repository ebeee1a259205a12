"""The questions of a study: one class in one module each, the module named as the rule that asks."""
