"""The configuration: read, validated, with defaults filled in, and asked for definitions by name."""
