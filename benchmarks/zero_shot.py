"""Labels that training never saw: the reverse dictionary of WordNet.

    python -m benchmarks.zero_shot

Of the 82,115 noun synsets 2,000 are kept out of training; the gloss of each is then looked up among
all synsets. Printed are the share found first and among the first ten with 95 % intervals, beside
chance and ten times chance.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.wordnet import reverse_dictionary
from separatrix import JointFeatures, TextVectorizer
from separatrix.bayes import BetaBernoulli

_BATCH = 500


def main() -> None:
    """Train, look the unseen glosses up, and print the table."""
    data = reverse_dictionary()
    seen = ~data.unseen
    started = time.perf_counter()
    model = JointFeatures(
        TextVectorizer(sublinear_tf=True, min_df=2, dtype="float32"),
        ("words", "path"),
        n_features=2**24,
        max_iter=3,
    ).fit(
        data.glosses[seen],
        data.labels[seen],
        labels=data.labels[data.unseen],
        names=data.names,
        paths=data.paths,
    )
    trained = time.perf_counter() - started
    glosses, truth = data.glosses[data.unseen], data.labels[data.unseen]
    started = time.perf_counter()
    parts = [
        model.predict_top(glosses[first : first + _BATCH], 10).labels
        for first in range(0, len(truth), _BATCH)
    ]
    each = (time.perf_counter() - started) / len(truth)
    hits = np.vstack(parts) == truth[:, None]
    n_labels = len(model.classes_)
    print(f"{n_labels} labels, {data.unseen.sum()} of them unseen; trained in {trained:.1f} s;")
    print(f"{1e3 * each:.1f} ms per gloss, all labels scored")
    for k in (1, 10):
        found = int(hits[:, :k].any(axis=1).sum())
        posterior = BetaBernoulli(1.0, 1.0).update([1] * found + [0] * (len(truth) - found))
        low, high = posterior.credible_interval(0.95)
        chance = k / n_labels
        verdict = "met" if low >= 10 * chance else "NOT met"
        print(
            f"among the first {k:2d}: {found / len(truth):.2%} (95 %: {low:.2%} to {high:.2%}), "
            f"chance {chance:.5%}, lower end / chance {low / chance:.0f} (10 asked for: {verdict})"
        )


if __name__ == "__main__":
    main()
