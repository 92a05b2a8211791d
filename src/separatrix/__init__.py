"""Linear prediction from binary to multiclass to structured outputs."""
