"""Two studies side by side: which queries moved, and whether more than chance would have them move."""
