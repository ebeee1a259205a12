"""Generate answers: the answer store, the engines that fill it, and the views that read it."""
