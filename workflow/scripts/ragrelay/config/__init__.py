"""Read and validate the configuration, fill in defaults, and look up definitions by name."""
