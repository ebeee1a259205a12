"""Download the files that a study needs from hubs, ir_datasets and Terrier."""
