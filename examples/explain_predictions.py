"""
Why a model says what it says
=============================

The same table for a linear model and for naive Bayes.
"""

from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, NaiveBayes, TextVectorizer, explain
from separatrix.explanation import top_weights

messages = [
    ("spam", "free money now"),
    ("spam", "win a free prize today"),
    ("spam", "call now for a free offer"),
    ("ham", "see you at lunch today"),
    ("ham", "the meeting is at noon now"),
    ("ham", "call me when you are home"),
]
labels, texts = zip(*messages, strict=True)

for learner in (LogisticRegression(), NaiveBayes("multinomial")):
    model = make_pipeline(TextVectorizer(use_idf=False, norm=None), learner).fit(texts, labels)
    print(type(learner).__name__)
    print(explain(model, "Call today: free lunch for you!"), end="\n\n")
    (weights,) = top_weights(model, top=3)
    for name, value in zip(weights.names, weights.values, strict=True):
        print(f"  {weights.kind} of {name!r} for {weights.label}: {value:+.2f}")
    print()
