"""Label passages by relevance with several annotation sources, and compare the labels with answer quality."""
