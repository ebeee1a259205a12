"""Import answers that were made elsewhere, and export a study's answers for other programs."""
