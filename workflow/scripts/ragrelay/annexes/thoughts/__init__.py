"""Describe how long a generator thinks before it answers, with each context and without one."""
