"""Steps from a few rows at a time."""
