"""Cells to columns, and columns to a data set."""
