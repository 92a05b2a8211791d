"""
From a CoNLL file to a tagger
=============================

Compare learners and templates, look inside, tag new sentences.

The same on the command line::

    separatrix compare train.conll --test test.conll --save tagger.sx --report report.html
    separatrix predict tagger.sx new.conll
    separatrix explain tagger.sx new.conll
"""

import tempfile
from pathlib import Path

import numpy as np

from separatrix import Experiment, explain_sequence, load
from separatrix.data import write_conll

WORDS = {
    "DT": ["the", "a", "every"],
    "JJ": ["old", "red", "large", "round"],
    "NN": ["cat", "dog", "house", "idea", "river", "letter"],
    "VB": ["sends", "shows", "finds"],
}


def phrase(generator):
    """A noun phrase, with or without an article."""
    return [*["DT"] * int(generator.integers(2)), *["JJ"] * int(generator.integers(3)), "NN"]


def sentences(n, seed):
    """Made-up sentences with parts of speech, and the phrases in them as BIO labels."""
    generator = np.random.default_rng(seed)
    tokens, labels = [], []
    for _ in range(n):
        first, verb, second, third = phrase(generator), ["VB"], phrase(generator), phrase(generator)
        row, tags = [], []
        for kind, part in (("NP", first), ("VP", verb), ("NP", second), ("NP", third)):
            row += [(str(generator.choice(WORDS[tag])), tag) for tag in part]
            tags += [f"B-{kind}", *[f"I-{kind}"] * (len(part) - 1)]
        tokens.append([*row, (".", ".")])
        labels.append([*tags, "O"])
    return tokens, labels


with tempfile.TemporaryDirectory() as folder:
    train, model = Path(folder) / "train.conll", Path(folder) / "tagger.sx"
    write_conll(train, *sentences(300, seed=0))

    # The last column is the target; its labels tell chunks, so that their F1 decides.
    result = Experiment(train, name="made-up sentences").run()
    print(result)
    result.save(model)

    tagger, new = load(model), sentences(1, seed=1)[0]
    print("\n", " ".join(word for word, _ in new[0]), sep="")
    print(tagger.predict(new)[0])
    if hasattr(tagger, "steps"):  # no baseline has a trellis
        print("\n", explain_sequence(tagger, new[0]), sep="")
