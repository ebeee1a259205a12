"""Download what a study needs from hubs, from ir_datasets and from Terrier."""
