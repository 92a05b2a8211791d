"""
Three learners of noun phrases
==============================

Labels of sequences: a CRF, a structured SVM and a structured perceptron find noun phrases.

Tokens are dicts of attributes, as for sklearn-crfsuite. The model scores whole labellings, so a
word is read in the light of its neighbors' labels; what is known beforehand, such as the grammar of
BIO labels or the label of a word, goes into the search.
"""

from separatrix import CRF, Constraints, StructuredPerceptron, StructuredSVM
from separatrix.metrics import chunk_report, chunks

TEXT = """
the/B quick/I fox/I saw/O a/B lazy/I dog/I
a/B dog/I barks/O
the/B old/I man/I feeds/O the/B dog/I
he/B saw/O the/B quick/I fox/I in/O the/B snow/I
the/B man/I walks/O in/O a/B quiet/I forest/I
a/B quiet/I fox/I feeds/O in/O the/B forest/I
"""


def attributes(words, t):
    return {
        "word": words[t],
        "suffix": words[t][-2:],
        "before": words[t - 1] if t else "<start>",
        "after": words[t + 1] if t + 1 < len(words) else "<end>",
    }


X, y = [], []
for line in TEXT.strip().splitlines():
    pairs = [token.split("/") for token in line.split()]
    words = [word for word, _ in pairs]
    X.append([attributes(words, t) for t in range(len(words))])
    y.append([tag if tag == "O" else f"{tag}-NP" for _, tag in pairs])

for model in (CRF(C=1.0), StructuredSVM(random_state=0), StructuredPerceptron(random_state=0)):
    model.fit(X, y)
    print(f"{type(model).__name__}: tokens right {model.score(X, y):.1%}")

# To cut a phrase in two is worse here than to miss a word of it: cost[true, other], in the order
# of classes_ (B-NP, I-NP, O).
cost = [[0.0, 1.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
svm = StructuredSVM(cost=cost, C=0.05, random_state=0).fit(X, y)
low, high = svm.dual_bound_, svm.solution_.objective
print(f"\nStructuredSVM with costs: the minimum is between {low:.3f} and {high:.3f}")
print("its losses:", svm.loss(X, y).round(2).tolist())

crf = CRF(C=0.3).fit(X, y)
words = ["the", "old", "dog", "saw", "a", "quiet", "man"]
new = [[attributes(words, t) for t in range(len(words))]]
tags = crf.predict(new, constraints="BIO")[0]
print("\n" + " ".join(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)))
print("noun phrases:", [" ".join(words[a:b]) for a, b, _ in chunks(tags)])

print("\nthe three best labellings:")
for path, score in crf.predict_top(new, 3)[0]:
    print(f"  {score:6.2f}  {' '.join(path)}")

marginals = crf.predict_proba(new)[0]
print("\nprobability of being inside a noun phrase:")
inside = [k for k, label in enumerate(crf.classes_) if label != "O"]
for word, p in zip(words, marginals[:, inside].sum(axis=1), strict=True):
    print(f"  {word:6s} {p:.2f}")

given = Constraints(given=[[None, None, "O", None, None, None, None]], grammar="BIO")
print("\nif 'dog' is known to be outside:", " ".join(crf.predict(new, constraints=given)[0]))
print("\n" + str(chunk_report(y, crf.predict(X))))
