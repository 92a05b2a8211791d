"""
A spam filter that explains itself
==================================

Odds ratios of words, and the running totals of a message.
"""

import re
import warnings

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LaplaceSmoothing, MaximumLikelihood, NaiveBayes
from separatrix.errors import ZeroProbabilityWarning
from separatrix.plots import OddsRatioDisplay

SPAM = """
win a free prize now claim your free money today
lose weight while you sleep order today
cheap credit no money down order now
free credit card click now to claim your prize
you have won money claim your free order
click to lose weight now money back
"""
HAM = """
would you like to meet the group for lunch today
the report is ready see you at the group meeting
how was your sleep you look tired while you work
would you like me to order lunch for the group
thank you for the report see you today
please see the notes of the meeting while I am away
"""

documents = [(line, "spam") for line in SPAM.strip().splitlines()]
documents += [(line, "ham") for line in HAM.strip().splitlines()]
words = sorted({word for line, _ in documents for word in re.findall(r"\w+", line)})
numbers = {word: j for j, word in enumerate(words)}
counts = np.zeros((len(documents), len(words)))
for row, (line, _) in enumerate(documents):
    for word in re.findall(r"\w+", line):
        counts[row, numbers[word]] += 1
labels = [label for _, label in documents]

# Relative frequencies: a word that only one class has seen has infinite odds.
warnings.simplefilter("ignore", ZeroProbabilityWarning)
raw = NaiveBayes("multinomial", smoothing=MaximumLikelihood()).fit(counts, labels)
print("by relative frequency:")
print(raw.odds_ratios("spam", top=3, feature_names=words))
print()
model = NaiveBayes("multinomial", smoothing=LaplaceSmoothing(1)).fit(counts, labels)
message = "Gary would you like to lose weight while you sleep"
print(model.explain(message.split(), classes=["spam", "ham"], feature_names=words))
print()
print(model.odds_ratios("spam", top=5, feature_names=words))

OddsRatioDisplay.from_estimator(model, "spam", top=8, feature_names=words)
plt.title("Words that tell spam from ham")
plt.show()
