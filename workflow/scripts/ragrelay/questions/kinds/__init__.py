"""A study's questions. Each module defines one question and is named after the rule that sends its requests."""
