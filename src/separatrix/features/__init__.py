"""From raw data to columns of numbers."""

from separatrix.features.conjunctions import Conjunctions
from separatrix.features.hasher import Hasher
from separatrix.features.joint import JointMap
from separatrix.features.pixels import PixelGrid
from separatrix.features.polynomial import Polynomial
from separatrix.features.radial import RadialBasis
from separatrix.features.tables.bins import SupervisedBins
from separatrix.features.tables.encoder import ColumnReport, TableEncoder
from separatrix.features.templates import Templates
from separatrix.features.text.messages import message_text
from separatrix.features.text.spam import MessageText, SpamFeatures
from separatrix.features.text.vectorizer import TextVectorizer

__all__ = [
    "ColumnReport",
    "Conjunctions",
    "Hasher",
    "JointMap",
    "MessageText",
    "PixelGrid",
    "Polynomial",
    "RadialBasis",
    "SpamFeatures",
    "SupervisedBins",
    "TableEncoder",
    "Templates",
    "TextVectorizer",
    "message_text",
]
