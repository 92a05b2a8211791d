"""
Beyond one machine
==================

The same estimators on Dask: partitions stay on the workers, the optimum is the same.
"""

import os

import dask.array as da
import numpy as np
from dask.distributed import Client
from sklearn.datasets import load_digits

from separatrix import LogisticRegression, NaiveBayes, distributed


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    rows, labels = da.from_array(X, chunks=(300, 64)), da.from_array(y, chunks=300)
    # Two processes; with SEPARATRIX_SHORT=1 two threads, which start at once.
    processes = not os.environ.get("SEPARATRIX_SHORT")
    with Client(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=":0"
    ) as client:
        model = distributed.fit(LogisticRegression(C=0.1, tol=1e-6), rows, labels, client=client)
        counts = distributed.fit(NaiveBayes("gaussian"), rows, labels, client=client)
        answers = distributed.predict(model, rows)
        print(f"{rows.numblocks[0]} partitions, answers in {answers.numblocks[0]}")
        print(f"accuracy {float((answers == labels).mean().compute()):.3f}")
        memory = distributed.peak_memory(client)
        print(f"peak memory of the workers: {[f'{m / 2**20:.0f} MiB' for m in memory.values()]}")
    here = LogisticRegression(C=0.1, tol=1e-6).fit(X, y)
    difference = model.solution_.objective / here.solution_.objective - 1
    print(f"objective {model.solution_.objective:.6f}, relative difference {difference:.0e}")
    print(f"{model.solution_.solver}, {model.solution_.n_passes:.0f} passes")
    same = np.allclose(counts.predict_proba(X), NaiveBayes("gaussian").fit(X, y).predict_proba(X))
    print(f"naive Bayes counts the same in partitions: {same}")


if __name__ == "__main__":  # the workers are processes that import this file
    main()
