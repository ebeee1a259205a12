"""The annex of battles, in which a judge compares two retrievers' answers to the same query."""
