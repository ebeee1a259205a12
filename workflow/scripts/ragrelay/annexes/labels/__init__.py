"""Label passages by several notions of relevance, and compare the labels with answer quality."""
