"""Download a study's files from hubs, ir_datasets and Terrier."""
