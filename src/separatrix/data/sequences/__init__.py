"""Sequences of tokens: containers, attributes, vocabularies."""
