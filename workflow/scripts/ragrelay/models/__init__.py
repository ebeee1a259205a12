"""Where models are: packaged, in a local folder, or on a hub."""
