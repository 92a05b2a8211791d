"""
Raw text to a classifier
========================

Words, pairs of words, and what they say of the class.

Reviews are made up from a few phrases, so that the example needs no data; with real ones (a list of
strings, or a column of a data frame) nothing else changes.
"""

import numpy as np
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TextVectorizer

generator = np.random.default_rng(0)
OPENINGS = ["The film is", "I thought it was", "Overall", "My friends say it is", "It feels"]
GOOD = ["a delight", "not bad at all", "well worth seeing", "never boring", "good fun"]
BAD = ["a mess", "not good at all", "never worth seeing", "boring", "no fun"]


def reviews(n):
    y = generator.integers(0, 2, n)
    phrases = [generator.choice(GOOD if label else BAD, 2) for label in y]
    return [f"{generator.choice(OPENINGS)} {a}, {b}!" for a, b in phrases], y


train, y_train = reviews(400)
test, y_test = reviews(400)
vectorizers = {
    "words": TextVectorizer(),
    "words and pairs": TextVectorizer(ngram_range=(1, 2), min_df=2),
    "naive-Bayes ratios of both": TextVectorizer(ngram_range=(1, 2), min_df=2, nb_log_ratio=True),
    "hashed to 256 columns": TextVectorizer(ngram_range=(1, 2), n_features=256),
}
for name, vectorizer in vectorizers.items():
    model = make_pipeline(vectorizer, LogisticRegression()).fit(train, y_train)
    print(f"{name:27} test accuracy {model.score(test, y_test):.3f}")

vectorizer = TextVectorizer(ngram_range=(1, 2), min_df=2)
model = LogisticRegression().fit(vectorizer.fit_transform(train), y_train)
order = np.argsort(model.coef_[0])
terms = vectorizer.get_feature_names_out()
print("speaks against it:", ", ".join(terms[order[:4]]))
print("speaks for it:", ", ".join(terms[order[-4:]]))
