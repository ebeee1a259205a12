"""Generation: the answer store, the engine that fills it, and the views that read it."""
