"""Files of answers that were made elsewhere: where they are, and what their formats say."""
