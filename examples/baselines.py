"""
Baselines first
===============

What a learner has to beat.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from separatrix import MajorityClass, PriorSampling
from separatrix.metrics import entropy, per_class_report

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

majority = MajorityClass().fit(X_train, y_train)
sampling = PriorSampling(random_state=0).fit(X_train, y_train)
prior = majority.class_prior_
print(f"class prior {prior.round(3)}, entropy {entropy(prior):.3f} nats")
print(f"majority class: test accuracy {majority.score(X_test, y_test):.3f}")
print(
    f"prior sampling: test accuracy {sampling.score(X_test, y_test):.3f}, "
    f"expected {(prior**2).sum():.3f}"
)
print(per_class_report(y_test, sampling.predict(X_test)))
