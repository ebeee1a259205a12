"""What a study takes from hubs, from ir_datasets and from Terrier."""
