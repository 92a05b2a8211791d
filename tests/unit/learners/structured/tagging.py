"""A small made-up tagging task in the forms that users have."""

import numpy as np

from separatrix.data import AttributeSequences, as_attribute_sequences

LABELS = ("B-X", "I-X", "O")


def sentences(n=60, seed=0):
    """Sentences of tokens as dicts, and labels that follow BIO and depend on the word."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(random.integers(1, 9))
        words, tags, before = [], [], "O"
        for _ in range(length):
            choices = ["B-X", "O"] if before == "O" else ["B-X", "I-X", "O"]
            tag = str(random.choice(choices))
            word = f"{tag[0].lower()}{random.integers(4)}"
            if random.random() < 0.25:
                word = f"any{random.integers(3)}"
            words.append(word)
            tags.append(tag)
            before = tag
        X.append(
            [
                {
                    "bias": 1.0,
                    "word": word,
                    "before": words[t - 1] if t else "none",
                    "long": len(words) > 4,
                    "shape": {"first": word[0]},
                }
                for t, word in enumerate(words)
            ]
        )
        y.append(tags)
    return X, y


def encoded(n=60, seed=0) -> tuple[AttributeSequences, list[list[str]]]:
    X, y = sentences(n, seed)
    return as_attribute_sequences(X), y
