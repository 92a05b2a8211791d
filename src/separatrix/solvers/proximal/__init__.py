"""Penalties with a kink: proximal steps, orthants, proximal Newton."""
