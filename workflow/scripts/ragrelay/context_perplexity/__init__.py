"""How likely the reader finds a context given the query: teacher-forced log-probabilities of its passages."""
