"""Data in and out: one `read` for all formats, `chunks` for files larger than memory, writers."""

from __future__ import annotations

from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.formats.conll import write_conll
from separatrix.data.formats.crfsuite import write_crfsuite
from separatrix.data.formats.svmlight import write_svmlight
from separatrix.data.graphs.batch import FeatureGraphs, Graphs
from separatrix.data.reading import FORMATS, chunks, import_features, read
from separatrix.data.schema import Schema, SchemaColumn
from separatrix.data.sequences.attributes import as_attribute_sequences
from separatrix.data.sequences.containers import (
    AttributeSequences,
    TokenColumn,
    TokenSequences,
    Vocabulary,
)
from separatrix.data.writing import write

__all__ = [
    "FORMATS",
    "AttributeSequences",
    "Dataset",
    "FeatureGraphs",
    "Graphs",
    "LabelSets",
    "Schema",
    "SchemaColumn",
    "TokenColumn",
    "TokenSequences",
    "Vocabulary",
    "as_attribute_sequences",
    "chunks",
    "import_features",
    "read",
    "write",
    "write_conll",
    "write_crfsuite",
    "write_svmlight",
]
