"""A study's questions: one class per module, which is named after the rule that asks."""
