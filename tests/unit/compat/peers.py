"""One face for sklearn-crfsuite and for the drop-in, so that each test runs on both.

What the tests ask for are facts about the peer: names, values and kinds of errors that programs
written for it rely on. The peer's run shows that the fact is one.
"""

import pytest

from separatrix.compat import sklearn_crfsuite as compat

__all__ = ["PEERS", "SEQUENCES", "TAGS", "crf_class"]

#: Every form of item that python-crfsuite takes.
SEQUENCES = [
    [
        {"word": "Kim", "title": True, "size": 3},
        {"word": b"lives", "shape": {"lower": 1.0, "tail": ["s", "es"]}},
        {"word": "in", "title": False},
        ["word:Oslo", "title"],
    ],
    [{b"word": "Oslo", "title": 1.5}, {"word": "sleeps", "marks": {"end"}}, "ab"],
    [],
]
TAGS = [["PER", "O", "O", "LOC"], ["LOC", "O", "O"], []]
PEERS = ("separatrix", "sklearn_crfsuite")


def crf_class(peer):
    """The class CRF of a peer."""
    if peer == "separatrix":
        return compat.CRF
    return pytest.importorskip("sklearn_crfsuite").CRF
