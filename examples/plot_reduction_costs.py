"""
What one-vs-all and all pairs cost
==================================

The cost table of the notes, measured: one-vs-all against all pairs as the classes grow.

Training costs O(k B(n)) against O(k^2 B(n/k)), prediction O(k) against O(k^2) columns. Rows are
drawn in so many classes that their number stays the same; both reductions train all columns in one
pass. Lines of slope one half, one and two stand behind the points.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from separatrix import AllPairs, LinearSVM, OneVsAll

N_ROWS, N_FEATURES, PER_ROW = 1050, 5000, 40
COUNTS = (3, 7, 15, 35, 105)


def make_rows(n_classes):
    """Rows of a few random features, half of them from the class's own."""
    random = np.random.default_rng(0)
    y = np.arange(N_ROWS) % n_classes
    own = random.integers(0, N_FEATURES, size=(n_classes, 60))
    common = random.integers(0, N_FEATURES, size=(N_ROWS, PER_ROW // 2))
    special = own[y[:, None], random.integers(0, 60, size=(N_ROWS, PER_ROW // 2))]
    columns = np.hstack([common, special]).ravel()
    starts = np.arange(0, N_ROWS * PER_ROW + 1, PER_ROW)
    X = sp.csr_array((np.ones(len(columns)), columns, starts), shape=(N_ROWS, N_FEATURES))
    X.sum_duplicates()
    return X / np.sqrt(PER_ROW), y


def seconds(call):
    """The shorter of two times."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


base = LinearSVM("squared_hinge", random_state=0)
reductions = {"one-vs-all": OneVsAll(base), "all pairs": AllPairs(base)}
train, predict = ({name: [] for name in reductions} for _ in range(2))
for n_classes in COUNTS:
    X, y = make_rows(n_classes)
    for name, model in reductions.items():
        train[name].append(seconds(lambda m=model, X=X, y=y: m.fit(X, y)))
        predict[name].append(seconds(lambda m=model, X=X: m.predict(X)))

print(f"{'k':>4} {'train (ms)':^24} {'predict (ms)':^24}")
print(f"{'':>4} {'one-vs-all':>11} {'all pairs':>12} {'one-vs-all':>11} {'all pairs':>12}")
for row, n_classes in enumerate(COUNTS):
    times = [table[name][row] * 1e3 for table in (train, predict) for name in reductions]
    print(f"{n_classes:>4} {times[0]:>11.1f} {times[1]:>12.1f} {times[2]:>11.1f} {times[3]:>12.1f}")

figure, panels = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax, (title, table) in zip(panels, {"train": train, "predict": predict}.items(), strict=True):
    for name, times in table.items():
        slope = np.polyfit(np.log(COUNTS), np.log(times), 1)[0]
        ax.loglog(COUNTS, times, "o-", label=f"{name}, grows as $k^{{{slope:.1f}}}$")
    for power in (0.5, 1, 2):
        guide = min(map(min, table.values())) * (np.array(COUNTS) / COUNTS[0]) ** power
        ax.loglog(COUNTS, guide, color="0.8", lw=1, zorder=0)
    ax.set(title=f"{title}: {N_ROWS} rows", xlabel="classes k", ylabel="seconds")
    ax.legend()
plt.show()
