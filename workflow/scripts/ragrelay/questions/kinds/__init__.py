"""A study's questions, one per module, which is named after the rule that asks the question."""
