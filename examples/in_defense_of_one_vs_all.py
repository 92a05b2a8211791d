"""
In defense of one-vs-all
========================

The comparison of Rifkin & Klautau (2004), repeated.

One-vs-all, all pairs and output codes (random dense, random sparse, BCH), with the hinge and the
square loss, beside the multiclass hinge (Crammer & Singer) and softmax; linear features and radial
ones (Nystroem on all training rows, so that the penalty is the kernel norm). C and gamma are
chosen for every method on a quarter of the first training part; errors are those of
cross-validation, with 95 % credible intervals, and every pair of methods gets the probability that
one is better::

    python examples/in_defense_of_one_vs_all.py                   # iris, coarsely, in seconds
    python examples/in_defense_of_one_vs_all.py glass yeast …     # sets of SEPARATRIX_DATA/uci
    ROWS=600 FOLDS=5 python examples/in_defense_of_one_vs_all.py all

Rifkin & Klautau used all rows, ten folds or the published split, and SVMs with finer grids. ROWS
draws that many rows of a set first (all by default), FOLDS is 10 by default.
"""

import os
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from separatrix import (
    AllPairs,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
    RadialBasis,
    TableEncoder,
    read,
)
from separatrix.bayes.comparison import accuracy_interval, compare_predictions, sign_test
from separatrix.errors import ConvergenceWarning

UCI = (
    "soybean", "letter", "satimage", "abalone", "optdigits",
    "glass", "car", "spectrometer", "yeast", "page-blocks",
)  # fmt: skip
NAMED = UCI if "all" in sys.argv[1:] else [name for name in sys.argv[1:] if name in UCI]
STRENGTHS = (0.1, 1.0, 10.0, 100.0) if NAMED else (1.0, 100.0)
# Times the number of features, which are scaled to variance one.
WIDTHS = (0.25, 1.0, 4.0) if NAMED else (1.0,)
ROPE = 0.005

hinge = LinearSVM("hinge", solver="dual", tol=1e-2, max_iter=300, random_state=0)
square = LinearClassifier("squared")


def reductions(base):
    """The five reductions over one base learner."""
    return {
        "OvA": OneVsAll(base),
        "AvA": AllPairs(base),
        "dense": OutputCode(base, code="random_dense", random_state=0),
        "sparse": OutputCode(base, code="random_sparse", random_state=0),
        "BCH": OutputCode(base, code="bch", random_state=0),
    }


METHODS = {
    **{f"{name} hinge": model for name, model in reductions(hinge).items()},
    **{f"{name} square": model for name, model in reductions(square).items()},
    "multiclass hinge": LinearSVM(solver="dual", tol=1e-2, max_iter=300, random_state=0),
    "softmax": LogisticRegression(solver="dual", tol=1e-3, max_iter=300, random_state=0),
}


def load_uci(name):
    """Features as numbers, labels, and the number of training rows where there is a split."""
    folder = Path(os.environ.get("SEPARATRIX_DATA", "../shared/data")) / "uci"
    parts = [folder / f"{name}.{part}.csv.gz" for part in ("train", "test")]
    files = parts if parts[0].exists() else [folder / f"{name}.csv.gz"]
    sets = [read(file, target="class") for file in files]
    encoder = TableEncoder(sparse_output=False).fit(sets[0].X)
    X = np.vstack([encoder.transform(part.X) for part in sets])
    y = np.concatenate([np.asarray(part.y).astype(str) for part in sets])
    if name == "spectrometer":  # ten classes: the tens of the type
        y = np.array([label[:-1] or "0" for label in y])
    return X, y, len(sets[0].y) if len(sets) == 2 else None


def splits(y, n_train):
    """The published split, or stratified folds (plain ones where classes are too small)."""
    if n_train is not None:
        return [(np.arange(n_train), np.arange(n_train, len(y)))]
    folds = int(os.environ.get("FOLDS", 10))
    if np.unique(y, return_counts=True)[1].min() < folds:
        return list(KFold(folds, shuffle=True, random_state=0).split(y))
    return list(StratifiedKFold(folds, shuffle=True, random_state=0).split(y, y))


def features(kind, X_train, *others):
    """Rows scaled, and mapped where `kind` is a width."""
    scaler = StandardScaler().fit(X_train)
    rows = [scaler.transform(X) for X in (X_train, *others)]
    if kind is None:
        return rows
    width = kind * max(1, np.count_nonzero(scaler.var_))
    radial = RadialBasis("nystroem", gamma=1 / width).fit(rows[0])
    return [radial.transform(X) for X in rows]


def with_strength(model, C):
    """The method at that C."""
    name = "C" if "C" in model.get_params() else "estimator__C"
    return model.set_params(**{name: C})


def right(model, C, train, y_train, test, y_test):
    """The fitted method's predictions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return with_strength(model, C).fit(train, y_train).predict(test)


def run(X, y, n_train=None):
    """Predictions of every method, linear and radial, and the labels in the same order."""
    folds = splits(y, n_train)
    first = folds[0][0]
    inner, held_out = train_test_split(first, test_size=0.25, random_state=0)
    best = {}
    for kind in (None, *WIDTHS):
        rows, others = features(kind, X[inner], X[held_out])
        for name, model in METHODS.items():
            for C in STRENGTHS:
                guess = right(model, C, rows, y[inner], others, y[held_out])
                score = float(np.mean(guess == y[held_out]))
                key = (name, "linear" if kind is None else "radial")
                if score > best.get(key, (-1.0,))[0]:
                    best[key] = (score, kind, C)
    predictions = {key: [] for key in best}
    for train, test in folds:
        mapped = {
            kind: features(kind, X[train], X[test]) for kind in {k for _, k, _ in best.values()}
        }
        for key, (_, kind, C) in best.items():
            rows, others = mapped[kind]
            predictions[key].append(right(METHODS[key[0]], C, rows, y[train], others, y[test]))
    truth = np.concatenate([y[test] for _, test in folds])
    return {key: np.concatenate(parts) for key, parts in predictions.items()}, truth


def shuffled(X, y, n_train):
    """At most ROWS rows, in random order where there is no split to keep."""
    most = int(os.environ.get("ROWS", 0)) or len(y)
    random = np.random.default_rng(0)
    if len(y) > most or len(y) < 200:
        rows, n_train = random.permutation(len(y))[:most], None if len(y) > most else n_train
        X, y = X[rows], y[rows]
    return X, y, n_train


def main():
    results = {}
    for name in NAMED or ["iris"]:
        data = load_uci(name) if NAMED else (*load_iris(return_X_y=True), 100)
        X, y, n_train = shuffled(*data)
        results[name] = run(X, y, n_train)
        predictions, truth = results[name]
        print(f"\n{name}: {len(y)} rows, {len(np.unique(y))} classes; error in %", flush=True)
        for method in METHODS:
            cells = []
            for kind in ("linear", "radial"):
                low, high = accuracy_interval(truth, predictions[method, kind]).interval
                low, high = 100 * (1 - high), 100 * (1 - low)
                error = 100 * np.mean(predictions[method, kind] != truth)
                cells.append(f"{kind} {error:5.1f} ({low:4.1f} to {high:4.1f})")
            print(f"  {method:17s} {cells[0]}   {cells[1]}", flush=True)

    print("\nProbability that the first is better / no difference over 0.5 points / the second")
    for kind in ("linear", "radial"):
        accuracies = {
            method: [np.mean(p[method, kind] == truth) for p, truth in results.values()]
            for method in METHODS
        }
        pooled = {
            method: np.concatenate([p[method, kind] == t for p, t in results.values()])
            for method in METHODS
        }
        truth = np.ones(len(next(iter(pooled.values()))), dtype=bool)
        # The question is whether anything beats one-vs-all of the same loss.
        for one, other in product(("OvA hinge", "OvA square"), METHODS):
            if one == other or {"hinge", "square"} == {one.split()[1], other.split()[-1]}:
                continue
            rows = compare_predictions(truth, pooled[one], pooled[other], rope=ROPE)
            sets = sign_test(accuracies[one], accuracies[other], rope=ROPE)
            print(
                f"  {kind} {one:13s} against {other:17s} rows: {_three(rows)}  sets: {_three(sets)}"
            )


def _three(result):
    return f"{result.p_a:.2f} / {result.p_equivalent:.2f} / {result.p_b:.2f}"


if __name__ == "__main__":
    main()
