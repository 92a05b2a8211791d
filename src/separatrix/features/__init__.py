"""Raw data to design matrices: text and named values."""

from separatrix.features.hasher import Hasher
from separatrix.features.text import TextVectorizer

__all__ = ["Hasher", "TextVectorizer"]
