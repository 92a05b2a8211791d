"""Data in and out: one `read` for all formats, `chunks` for files larger than memory, writers."""

from __future__ import annotations

from separatrix.data.attributes import as_attribute_sequences
from separatrix.data.conll import write_conll
from separatrix.data.crfsuite import write_crfsuite
from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.graphs import FeatureGraphs, Graphs
from separatrix.data.output import write
from separatrix.data.reading import FORMATS, chunks, import_features, read
from separatrix.data.schema import Schema, SchemaColumn
from separatrix.data.sequences import AttributeSequences, TokenColumn, TokenSequences, Vocabulary
from separatrix.data.svmlight import write_svmlight

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
