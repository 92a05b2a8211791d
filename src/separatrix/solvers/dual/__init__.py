"""Solvers of dual problems: coordinates, planes, interior point."""
