"""
Decoding an output code
=======================

Six classifiers answer 011011. Which of the eight classes of the notes is it? The nearest word wins:
class 3, one bit away. But that code has words that differ in one place only and forgives nothing;
on the right, how many answers are decoded rightly when bits flip at random, for it and for longer
codes.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import CodeMatrix
from separatrix.learners.reductions import make_code

words = ["000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"]
notes = CodeMatrix([[1 if bit == "1" else -1 for bit in word] for word in words])
answer = np.array([1 if bit == "1" else -1 for bit in "011011"])
distances = (notes.values != answer).sum(axis=1)
winner = int(distances.argmin())
print(notes)
print(f"011011 differs in {distances.tolist()} places: class {winner + 1}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
table = np.vstack([answer, notes.values])
differs = np.vstack([np.zeros(6, bool), notes.values != answer])
left.imshow(np.where(table > 0, 0.4, 0.0), cmap="Blues", vmin=0, vmax=1, aspect="auto")
for row, column in np.argwhere(np.ones_like(table, bool)):
    left.text(
        column,
        row,
        "1" if table[row, column] > 0 else "0",
        ha="center",
        va="center",
        color="#D55E00" if differs[row, column] else "black",
        fontweight="bold" if differs[row, column] else "normal",
    )
left.axhline(0.5, color="black")
left.set_yticks(
    range(9), ["answer", *(f"class {k + 1}: distance {d}" for k, d in enumerate(distances))]
)
left.get_yticklabels()[winner + 1].set_fontweight("bold")
left.set_xticks(range(6), [f"h{j + 1}" for j in range(6)])
left.set_title("Six answers against eight words")

# Flip every bit with some probability and decode by Hamming distance.

generator = np.random.default_rng(0)
rates = np.linspace(0, 0.4, 15)
codes = {
    "6 bits of the notes": notes,
    **{name: make_code(name, 8) for name in ("one_vs_all", "hadamard", "bch")},
}
for name, code in codes.items():
    M = code.values
    decoded = []
    for rate in rates:
        k = generator.integers(8, size=2000)
        sent = np.where(generator.random((2000, M.shape[1])) < rate, -M[k], M[k])
        distance = (sent[:, None, :] != M[None]).sum(axis=2) + 1e-3 * generator.random((2000, 8))
        decoded.append(np.mean(distance.argmin(axis=1) == k))
    label = f"{name}: {code.n_columns} columns, corrects {code.errors_corrected}"
    right.plot(rates, decoded, marker=".", label=label)
    print(f"{label}; with one bit in ten wrong {np.interp(0.1, rates, decoded):.0%} are decoded")
right.set(
    xlabel="share of wrong bits",
    ylabel="share decoded rightly",
    ylim=(-0.35, 1.03),
    yticks=np.linspace(0, 1, 6),
    title="What a longer code forgives",
)
right.legend(loc="lower left", frameon=False, fontsize="small")
plt.show()
