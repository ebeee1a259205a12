"""What the rules of the workflow ask of a study."""
