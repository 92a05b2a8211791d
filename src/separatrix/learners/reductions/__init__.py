"""Many classes from two: one-vs-all, all pairs and output codes over any base learner."""

from __future__ import annotations

from separatrix.learners.reductions.all_pairs import AllPairs
from separatrix.learners.reductions.class_numbers import ClassNumbers
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.codes import CODES, confusion_code, make_code
from separatrix.learners.reductions.coupling import couple, couple_pairs
from separatrix.learners.reductions.one_vs_all import OneVsAll
from separatrix.learners.reductions.output_code import OutputCode

__all__ = [
    "CODES",
    "AllPairs",
    "ClassNumbers",
    "CodeMatrix",
    "OneVsAll",
    "OutputCode",
    "confusion_code",
    "couple",
    "couple_pairs",
    "make_code",
]
