"""Sequences cut into segments with a maximum length: semi-Markov chains, features and inference."""

from separatrix.structures.segments.structure import SegmentFeatures, Segments

__all__ = ["SegmentFeatures", "Segments"]
