"""How much answers depend on their contexts: the bridge from the study of answers to that of context use."""
