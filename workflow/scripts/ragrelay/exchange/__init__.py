"""Import answers from other systems, and export a study's answers for other programs."""
