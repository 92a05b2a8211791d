"""Steps along directions of descent: gradients, quasi-Newton, Newton."""
