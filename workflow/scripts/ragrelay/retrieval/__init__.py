"""Retrievers: everything that yields a TREC run, and what is made of one."""
