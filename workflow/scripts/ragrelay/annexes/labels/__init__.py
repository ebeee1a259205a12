"""Label passages for relevance from several sources, and compare the labels with answer quality."""
