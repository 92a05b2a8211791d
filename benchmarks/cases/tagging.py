"""Contenders of S5 from the file to tags: attributes are made on the way."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks.cases.files import comprehension
from benchmarks.cases.templates import attributes
from benchmarks.chains import open_tagger, train_crfsuite
from benchmarks.data import Data, data_root
from benchmarks.sequences import conll2000
from benchmarks.spec import Contender, Outcome


def _files() -> tuple[str, str]:
    folder = data_root() / "conll2000"
    return str(folder / "train.txt.gz"), str(folder / "test.txt.gz")


def prepare_ours_files(data: Data) -> Any:
    """A template and a tagger fitted on the training file, and the path of the test file."""
    separatrix = importlib.import_module("separatrix")
    read = importlib.import_module("separatrix.data").read
    train, test = _files()
    found = read(train)
    template = separatrix.Templates("chunking")
    chain = separatrix.Chain(boundaries=False, transitions="observed")
    model = separatrix.StructuredPerceptron(chain, random_state=0, max_iter=3)
    model.fit(template.fit_transform(found.X), found.y)
    return data, test, template, model


def tag_ours_file(prepared: Any) -> Any:
    """Read the test file, make its attributes and label it."""
    _, path, template, model = prepared
    read = importlib.import_module("separatrix.data").read
    return model.predict(template.transform(read(path).X))


def prepare_crfsuite_files(data: Data) -> Any:
    """A tagger fitted on the training file, and the path of the test file."""
    train, test = _files()
    trainer = importlib.import_module("pycrfsuite").Trainer(verbose=False)
    trainer.select("ap")
    for sentence in comprehension(train):
        trainer.append(attributes(sentence), [token[2] for token in sentence])
    path = train_crfsuite((data, trainer), max_iterations=3)
    return data, test, open_tagger(path)


def tag_crfsuite_file(prepared: Any) -> Any:
    """Read the test file, make its attributes and label it."""
    _, path, tagger = prepared
    return [tagger.tag(attributes(sentence)) for sentence in comprehension(path)]


def read_all_tags(prepared: Any, tags: Any) -> Outcome:
    """F1 of the labels of the whole test file."""
    from separatrix.metrics import chunk_f1

    return Outcome(score=chunk_f1(conll2000()[1].tags(), list(tags)))


CONTENDERS = (
    Contender(
        "separatrix, from the file",
        prepare_ours_files,
        tag_ours_file,
        read_all_tags,
        rival=False,
    ),
    Contender(
        "CRFsuite, from the file",
        prepare_crfsuite_files,
        tag_crfsuite_file,
        read_all_tags,
        rival=False,
    ),
)
