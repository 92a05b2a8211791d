"""
Marginals of a chain, node by node and edge by edge
===================================================

Forward and backward messages of a conditional random field give the probability of every label at
every word, and of every pair of neighboring labels, each summed over all labelings of the
sentence. Telling the model one label changes the others: in the third panel one word is given.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import CRF, Constraints
from separatrix.structures.chain import ChainScores, log_partition, marginals

TEXT = """
the/DET old/ADJ man/NOUN saw/VERB the/DET dog/NOUN
old/ADJ man/NOUN feeds/VERB the/DET old/ADJ dog/NOUN
the/DET old/NOUN man/VERB the/DET boats/NOUN
the/DET dog/NOUN saw/VERB the/DET man/NOUN
"""
pairs = [[token.split("/") for token in line.split()] for line in TEXT.strip().splitlines()]
X = [[{"word": word} for word, _ in line] for line in pairs]
y = [[tag for _, tag in line] for line in pairs]
crf = CRF(C=2.0).fit(X, y)

words = ["the", "old", "man", "the", "boats"]
sentence = [[{"word": word} for word in words]]
labels = list(crf.classes_)
nodes = crf.predict_proba(sentence)[0]
edges = crf.predict_edge_marginals(sentence)[0]
print("best labeling:", " ".join(crf.predict(sentence)[0]))
print("most probable label of each word:", " ".join(labels[k] for k in nodes.argmax(axis=1)))

figure, panels = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
axes = panels.ravel()


def heat(ax, table, rows, columns, title):
    ax.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(*table.shape):
        color = "white" if table[i, j] > 0.6 else "black"
        ax.text(j, i, f"{table[i, j]:.2f}", ha="center", va="center", color=color, fontsize=8)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_title(title)


heat(axes[0], nodes.T, labels, words, "p(label of a word)")
heat(axes[1], edges[1], labels, labels, 'p(label of "old", of "man")')

# With the third word known to be a verb, the second one turns into a noun.

given = [[None, None, "VERB", None, None]]
informed = crf.predict_proba(sentence, constraints=Constraints(given=given))[0]
heat(axes[2], informed.T, labels, words, '"man" is known to be a verb')

# A chain of length 2 by hand: marginals are exponentials of scores, summed and normalized.

scores = ChainScores.of([[1.0, 0.0], [0.0, 0.5]], [[0.5, 0.0], [0.0, 0.5]])
joint = np.exp([[1.0 + 0.5 + 0.0, 1.0 + 0.5], [0.0 + 0.0, 0.0 + 0.5 + 0.5]])
print(f"log Z {log_partition(scores)[0]:.4f} = {np.log(joint.sum()):.4f} by hand")
by_hand = np.array([joint.sum(axis=1), joint.sum(axis=0)]) / joint.sum()
assert np.allclose(marginals(scores).nodes, by_hand)
heat(
    axes[3],
    joint / joint.sum(),
    ["y1 = a", "y1 = b"],
    ["y2 = a", "y2 = b"],
    "a chain of two, by hand",
)
plt.show()
