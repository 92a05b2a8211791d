"""Benchmarks: peers, same data, same objective; ``python -m benchmarks`` prints the ratios."""
