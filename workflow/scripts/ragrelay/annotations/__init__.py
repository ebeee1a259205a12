"""Annotation sources label passages by several notions of relevance; the labels are compared with answer quality."""
