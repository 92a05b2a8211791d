# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 003: a spam filter by counting
#
# *Naïve Bayes for Text; Parameter Estimation; Real NB: Smoothing.* From ten messages:

# %%
from collections import Counter
from math import exp, inf, log

MESSAGES = [
    ("spam", "free money call now"),
    ("spam", "win a free prize now"),
    ("spam", "lose weight while you sleep call now"),
    ("spam", "cheap pills free delivery"),
    ("ham", "are you free for lunch"),
    ("ham", "see you at the meeting"),
    ("ham", "the report is on your desk"),
    ("ham", "call me when you are home"),
    ("ham", "lunch at noon as usual"),
    ("ham", "thanks for the notes on the talk"),
]

# %% [markdown]
# 1. Estimate $P(y)$ and $P(w \mid y)$ by relative frequency. What are the odds ratios, and what is
#    wrong?
# 2. Smooth by Laplace with $k = 1$, and print the sorted tables and the new odds ratios.
# 3. Classify "Would you like to lose weight" with running totals of logarithms.
#
# ## Solution

# %%
counts = {"spam": Counter(), "ham": Counter()}
documents = Counter()
for label, text in MESSAGES:
    documents[label] += 1
    counts[label].update(text.split())
vocabulary = sorted(set(counts["spam"]) | set(counts["ham"]))


def probability(word, label, k):
    """(c(w, y) + k) / (c(y) + k |X|), where c(y) counts the tokens of the class."""
    return (counts[label][word] + k) / (counts[label].total() + k * len(vocabulary))


def odds(word, k):
    """P(w | spam) / P(w | ham)."""
    below = probability(word, "ham", k)
    return probability(word, "spam", k) / below if below else inf


infinite = [word for word in vocabulary if odds(word, 0) == inf]
print(len(infinite), "of", len(vocabulary), "words have infinite odds:", *infinite[:4], "…")

# %% [markdown]
# A word that ham never had rules ham out, however often the others speak for it: overfitting. With
# $k = 1$ every word counts as seen once more:

# %%
for label in counts:
    top = sorted(vocabulary, key=lambda word: -probability(word, label, 1))[:4]
    print(f"P(W|{label})", *[f"{word} {probability(word, label, 1):.3f}" for word in top])
print("loudest for spam:", *sorted(vocabulary, key=lambda word: -odds(word, 1))[:3])

# %%
sentence = "would you like to lose weight"
message = [word for word in sentence.split() if word in vocabulary]
totals = {label: log(documents[label] / len(MESSAGES)) for label in counts}
print(f"{'(prior)':8}", {label: round(total, 1) for label, total in totals.items()})
for word in message:
    for label in counts:
        totals[label] += log(probability(word, label, 1))
    print(f"{word:8}", {label: round(total, 1) for label, total in totals.items()})
share = exp(totals["spam"]) / sum(exp(total) for total in totals.values())
print(f"P(spam | w) = {share:.1%}")

# %% [markdown]
# ## In one line

# %%
from sklearn.pipeline import make_pipeline

from separatrix import NaiveBayes, TextVectorizer

words = TextVectorizer(token_pattern=r"\S+", use_idf=False, norm=None)
model = make_pipeline(words, NaiveBayes("multinomial", smoothing=1.0))
model.fit([text for _, text in MESSAGES], [label for label, _ in MESSAGES])
predicted = model.predict_proba(["Would you like to lose weight"])[0]
assert abs(predicted[list(model.classes_).index("spam")] - share) < 1e-12
