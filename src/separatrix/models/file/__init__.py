"""The bytes of a model file: a container, and nodes for what it holds."""
