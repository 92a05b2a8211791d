"""
The trellis of a sentence
=========================

A sentence in the eyes of a tagger: how sure it is of every label, and its second thought.

The fields are the probabilities of the labels, each summed over all labellings of the sentence; the
lines are the best labelling and the second. "saw" and "feeds" can be nouns or verbs, and what
follows decides.
"""

import matplotlib.pyplot as plt

from separatrix import CRF
from separatrix.plots import TrellisDisplay

TEXT = """
the/DET quick/ADJ fox/NOUN saw/VERB a/DET lazy/ADJ dog/NOUN
a/DET dog/NOUN barks/VERB
the/DET old/ADJ saw/NOUN cuts/VERB wood/NOUN
he/PRON saw/VERB the/DET quick/ADJ fox/NOUN in/ADP the/DET snow/NOUN
the/DET man/NOUN feeds/VERB the/DET dog/NOUN
the/DET feeds/NOUN of/ADP the/DET farm/NOUN
she/PRON walks/VERB in/ADP a/DET quiet/ADJ forest/NOUN
old/ADJ dog/NOUN sleeps/VERB in/ADP the/DET wood/NOUN
"""


def attributes(words, t):
    return {
        "word": words[t],
        "before": words[t - 1] if t else "<start>",
        "suffix": words[t][-1],
    }


X, y = [], []
for line in TEXT.strip().splitlines():
    pairs = [token.split("/") for token in line.split()]
    words = [word for word, _ in pairs]
    X.append([attributes(words, t) for t in range(len(words))])
    y.append([tag for _, tag in pairs])

crf = CRF(C=0.7).fit(X, y)
words = ["the", "old", "saw", "feeds", "the", "quiet", "dog"]
truth = ["DET", "ADJ", "NOUN", "VERB", "DET", "ADJ", "NOUN"]
sentence = [attributes(words, t) for t in range(len(words))]
for path, score in crf.predict_top([sentence], 3)[0]:
    print(f"{score:6.2f}  {' '.join(path)}")

TrellisDisplay.from_estimator(crf, sentence, y=truth)
plt.show()
