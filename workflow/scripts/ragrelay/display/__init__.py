"""What every page and figure shares: numbers as text, colours, charts, templates."""
