"""Tables of mixed columns to numbers."""
