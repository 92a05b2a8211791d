"""A reverse dictionary: from a gloss to the noun synset that it defines (WordNet 3.0).

The 82,115 noun synsets are the labels, each with one gloss. Debian's ``wordnet-base`` has the file;
set ``WORDNET`` to the folder that holds ``data.noun`` if it lies elsewhere. A synset's features are
the words of its names and the synsets above it, so that one whose gloss was not in the training
rows can be found too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.data import MissingDataError

_FOLDER = "/usr/share/wordnet"


class Synset(NamedTuple):
    """One noun synset: names, gloss without examples, and the offsets of those right above it."""

    names: tuple[str, ...]
    gloss: str
    parents: tuple[str, ...]


def read_nouns(folder: Path | None = None) -> dict[str, Synset]:
    """Return the noun synsets by their offset in ``data.noun``.

    Raises
    ------
    MissingDataError
        If the file is not there.
    """
    path = (folder or Path(os.environ.get("WORDNET", _FOLDER))) / "data.noun"
    if not path.exists():
        raise MissingDataError(f"{path} is missing; install Debian's wordnet-base or set WORDNET")
    synsets = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("  "):  # the licence stands on top
                continue
            fields, _, gloss = line.partition(" | ")
            offset, synset = _parse(fields.split(), gloss)
            synsets[offset] = synset
    return synsets


def _parse(fields: list[str], gloss: str) -> tuple[str, Synset]:
    """Read one line.

    Fields: offset, file, type, number of words (hex), (word, id) …, number of pointers, pointers ….
    """
    n_words = int(fields[3], 16)
    names = tuple(fields[4 + 2 * i].replace("_", " ") for i in range(n_words))
    pointers = fields[5 + 2 * n_words :]
    parents = tuple(
        pointers[4 * i + 1]
        for i in range(int(fields[4 + 2 * n_words]))
        if pointers[4 * i] in ("@", "@i")
    )
    # Examples follow the definition in quotation marks.
    return fields[0], Synset(names, gloss.split('; "')[0].strip(), parents)


def path_to_top(synsets: dict[str, Synset], offset: str) -> list[str]:
    """The synsets above one, nearest first, by the first parent of each."""
    path: list[str] = []
    while synsets[offset].parents and synsets[offset].parents[0] not in path:
        offset = synsets[offset].parents[0]
        path.append(offset)
    return path


class ReverseDictionary(NamedTuple):
    """Glosses with their synsets; those of `unseen` have no training row."""

    glosses: npt.NDArray[np.object_]
    labels: npt.NDArray[np.str_]
    unseen: npt.NDArray[np.bool_]
    names: dict[str, str]
    paths: dict[str, list[str]]


def reverse_dictionary(held_out: int = 2000, seed: int = 0) -> ReverseDictionary:
    """All glosses; `held_out` synsets at random are kept out of training altogether."""
    synsets = read_nouns()
    labels = np.array(sorted(synsets))
    unseen = np.zeros(len(labels), dtype=bool)
    unseen[np.random.default_rng(seed).permutation(len(labels))[:held_out]] = True
    glosses = np.array([synsets[offset].gloss for offset in labels.tolist()], dtype=object)
    names = {offset: " ".join(synsets[offset].names) for offset in labels.tolist()}
    paths = {offset: path_to_top(synsets, offset) for offset in labels.tolist()}
    return ReverseDictionary(glosses, labels, unseen, names, paths)
