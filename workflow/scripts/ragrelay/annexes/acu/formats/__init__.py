"""Define the file formats in which users can give claims, one in each module."""
