"""The engines that generators can use, one per module."""
