"""Drawings of the report: SVG as text, colors by the style sheet."""
