# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 000: Viterbi and forward-backward by hand
#
# *The argmax problem for sequences; Conditional random field.* Tag "he eats apples" with Pronoun,
# Verb and Noun. The scores of words with tags, and of tags with the tag before:

# %%
import itertools

import numpy as np

tags = ["Pronoun", "Verb", "Noun"]
unary = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.5], [0.0, 1.0, 1.2]])  # he, eats, apples
pairs = np.array([[-1.0, 2.0, 0.0], [0.5, -1.0, 1.0], [0.0, 1.0, 0.0]])  # from row to column


def score(labels):
    """The score of a labelling: the sum of its parts."""
    steps = itertools.pairwise(labels)
    return unary[range(3), labels].sum() + sum(pairs[a, b] for a, b in steps)


# %% [markdown]
# 1. Find the best of all $3^3$ labellings by enumeration, and $Z = \sum_y e^{h(x, y)}$.
# 2. Find both by dynamic programming. What does it cost for length $T$ and $K$ tags?
# 3. Compute the probability that the second word is a verb.
#
# ## Solution
#
# By enumeration, for the truth:

# %%
everything = list(itertools.product(range(3), repeat=3))
best = max(everything, key=score)
Z = sum(np.exp(score(labels)) for labels in everything)
print([tags[k] for k in best], score(best), Z.round(2))

# %% [markdown]
# Viterbi keeps for every tag the best score of all beginnings that end with it, and which tag stood
# before: $O(T K^2)$ in place of $K^T$. The forward algorithm is the same with
# $\log \sum \exp$ in place of the max.

# %%
highest, before = unary[0], []
alpha = unary[0]
for row in unary[1:]:
    extended = highest[:, None] + pairs
    before.append(extended.argmax(axis=0))
    highest = extended.max(axis=0) + row
    alpha = np.logaddexp.reduce(alpha[:, None] + pairs, axis=0) + row
path = [int(highest.argmax())]
for back in reversed(before):
    path.append(int(back[path[-1]]))
assert tuple(path[::-1]) == best
assert np.isclose(np.logaddexp.reduce(alpha), np.log(Z))

# %% [markdown]
# Forward to the second word times backward from it, over $Z$:

# %%
forward = np.logaddexp.reduce(unary[0][:, None] + pairs, axis=0) + unary[1]
backward = np.logaddexp.reduce(pairs + unary[2], axis=1)
marginal = np.exp(forward + backward - np.log(Z))
print(*[f"{tag} {share:.3f}" for tag, share in zip(tags, marginal, strict=True)])
by_enumeration = sum(np.exp(score(labels)) for labels in everything if labels[1] == 1) / Z
assert np.isclose(marginal[1], by_enumeration)

# %% [markdown]
# ## In one line
#
# A CRF learns such scores, and answers all three questions:

# %%
from separatrix import CRF

X = [[["he"], ["eats"], ["apples"]], [["apples"], ["eats"], ["he"]], [["he"], ["apples"]]]
y = [["Pronoun", "Verb", "Noun"], ["Noun", "Verb", "Pronoun"], ["Pronoun", "Noun"]]
model = CRF(C=10.0).fit(X, y)
print(list(model.predict(X)[0]))
proba = zip(model.classes_, model.predict_proba(X)[0][1], strict=True)
print(*[f"{tag} {share:.3f}" for tag, share in proba])
