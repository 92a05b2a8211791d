"""S4: columns of text to encoded features; time from the path to what a trainer holds."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.cases.files import comprehension, prepare_path, read_nothing
from benchmarks.data import Data
from benchmarks.spec import Bound, Case, Contender, Outcome

#: Tokens, attributes and entries that the template of the case makes of conll2000 train.
_EXPECTED = (211_727, 335_673, 4_002_294)


def encode_file(path: str) -> Any:
    """Run `separatrix.data.read` and `Templates.fit_transform`."""
    data = importlib.import_module("separatrix.data").read(path)
    return importlib.import_module("separatrix").Templates("chunking").fit_transform(data.X)


def prepare_lists(data: Data) -> list[list[list[str]]]:
    """Return the sentences as lists of tokens (word, part of speech, label)."""
    return comprehension(prepare_path(data))


def encode_lists(sentences: Any) -> Any:
    """Run `Templates.fit_transform` on lists of lists of str."""
    return importlib.import_module("separatrix").Templates("chunking").fit_transform(sentences)


def read_encoded(prepared: Any, rows: Any) -> Outcome:
    """Check that the rows are those of the template.

    Raises
    ------
    ValueError
        If tokens, attributes or entries are not as many as they should be.
    """
    found = (*rows.matrix.shape, rows.matrix.nnz)
    if found != _EXPECTED:
        raise ValueError(f"the template gave {found}, expected {_EXPECTED}")
    return Outcome()


def attributes(sentence: list[list[str]]) -> list[list[str]]:
    """Return the attributes of every token, as users of CRFsuite write them."""
    words, tags = [token[0] for token in sentence], [token[1] for token in sentence]
    n = len(sentence)
    items = []
    for t in range(n):
        item = ["bias"]
        first, last = max(t - 2, 0), min(t + 3, n)
        for i in range(first, last):
            item.append(f"w[{i - t}]={words[i]}")
            item.append(f"p[{i - t}]={tags[i]}")
        for i in range(max(t - 1, 0), min(t + 1, n - 1)):
            item.append(f"w[{i - t}]|w[{i - t + 1}]={words[i]}|{words[i + 1]}")
        for i in range(first, last - 1):
            item.append(f"p[{i - t}]|p[{i - t + 1}]={tags[i]}|{tags[i + 1]}")
        for i in range(first, last - 2):
            item.append(
                f"p[{i - t}]|p[{i - t + 1}]|p[{i - t + 2}]={tags[i]}|{tags[i + 1]}|{tags[i + 2]}"
            )
        items.append(item)
    return items


def load_crfsuite(path: str) -> Any:
    """Make attributes in Python and append them to python-crfsuite's trainer."""
    trainer = importlib.import_module("pycrfsuite").Trainer(verbose=False)
    for sentence in comprehension(path):
        trainer.append(attributes(sentence), [token[2] for token in sentence])
    return trainer


def append_to_crfsuite(prepared: Any) -> Any:
    """Append attributes that are ready to python-crfsuite's trainer."""
    trainer = importlib.import_module("pycrfsuite").Trainer(verbose=False)
    for items, labels in prepared:
        trainer.append(items, labels)
    return trainer


def prepare_items(data: Data) -> list[tuple[list[list[str]], list[str]]]:
    """Return attributes and labels of every sentence."""
    return [(attributes(s), [token[2] for token in s]) for s in prepare_lists(data)]


S4 = Case(
    name="s4",
    title="columns of text to encoded features, conll2000 train, chunking template",
    data="conll2000.gz",
    contenders=(
        Contender("separatrix Templates", prepare_path, encode_file, read_encoded, ours=True),
        Contender(
            "separatrix Templates, from lists", prepare_lists, encode_lists, read_encoded,
            rival=False,
        ),
        Contender("python-crfsuite", prepare_path, load_crfsuite, read_nothing),
        Contender(
            "python-crfsuite, attributes ready", prepare_items, append_to_crfsuite, read_nothing,
            rival=False,
        ),
    ),
    bounds=(Bound("time", must=15, goal=40),),
    note="From the path of the gzip file to attributes by number: a CSR matrix and lengths, or the "
    "trainer's own arrays. The template: bias; words and parts of speech at -2 … 2; two pairs of "
    "words; pairs and triples of parts of speech inside -2 … 2 (452,760 weights over observed "
    "pairs of attribute and label, transitions included). Rows not in the ratio: ours from Python "
    "lists that are ready; CRFsuite's from attributes that are ready.",
)  # fmt: skip

CASES = [S4]
