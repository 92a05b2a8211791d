"""Batches of graphs: what users give, and flat arrays."""
