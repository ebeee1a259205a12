"""The annex for battles, in which a judge compares two retrievers' answers to the same query."""
