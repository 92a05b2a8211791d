"""Where notes, pages and code once disagreed: each line holds the side that is right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from separatrix import (
    AllPairs,
    BetaBernoulli,
    Calibrated,
    LogisticRegression,
    NaiveBayes,
    OneVsAll,
    Perceptron,
    SpamFeatures,
    bayes_action,
)
from separatrix.bayes import SquaredLoss
from separatrix.data import read
from separatrix.features.templates.grammar import parse
from separatrix.learners.reductions.decoding import pair_scores, vote
from separatrix.losses import MARGIN_LOSSES
from separatrix.metrics import expected_calibration_error, kl_divergence

DOCS = Path(__file__).parents[2] / "docs"


def page(name):
    """The text of a page of the guide, line breaks as spaces."""
    return " ".join((DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8").split())


def test_a_score_of_exactly_zero_goes_to_the_first_class():
    model = Perceptron().fit([[1.0], [-1.0]], ["b", "a"])
    model.coef_[:], model.intercept_[:] = 1.0, 0.0
    assert model.predict([[0.0]]) == ["a"]
    assert "gives every tie to the class that stands first in `classes_`" in page(
        "linear_classifiers"
    )


def test_a_loss_takes_the_action_first():
    assert SquaredLoss()(0.0, 3.0) == 9.0
    asked = []

    def loss(action, theta):
        asked.append((action, theta))
        return np.where(theta > action, 9.0, 1.0) * np.abs(theta - action)

    assert bayes_action(BetaBernoulli(5, 3), loss).action > 0.7  # too low costs more
    assert r"\ell(a, \theta)" in page("decisions")
    assert r"\ell(\theta, a)" not in page("decisions")


def test_the_page_names_what_the_spam_features_have():
    names = SpamFeatures().fit(["x"]).get_feature_names_out()
    assert "recipients" in names
    assert "how many recipients the headers name" in page("naive_bayes")


def test_templates_as_text_mark_transitions_as_the_page_says():
    (line,) = re.findall(r"a line `(transitions: \w+)` of a template as text", page("chains"))
    assert parse(line)[0].on == "transitions"


def test_pairs_vote_unless_asked_for_the_formula():
    assert AllPairs().decode == "vote"
    assert 'That sum is `AllPairs(decode="scores")`' in page("reductions")
    X = np.repeat(np.eye(3), 4, axis=0)
    model = AllPairs(LogisticRegression(), decode="scores").fit(X, np.repeat([0, 1, 2], 4))
    margins = np.array([[5.0, -0.1, -0.1]])  # 0 beats 1 by far; 2 beats 0 and 1 by little
    assert pair_scores(margins, model.code_).argmax() == 0
    assert vote(margins, model.code_).argmax() == 2
    h = {(0, 1): 5.0, (0, 2): -0.1, (1, 2): -0.1}
    formula = [
        sum(h[i, j] for j in range(3) if i < j) - sum(h[j, i] for j in range(i)) for i in range(3)
    ]
    assert np.allclose(pair_scores(margins, model.code_), [formula])


def test_one_vs_all_fails_where_pairs_do_not():
    """A class amid three others: no line parts it from the rest, but one from each of them."""
    angles = np.repeat([0.0, 2.1, 4.2], 20)
    around = 4 * np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.vstack([np.zeros((20, 2)), around]) + np.random.default_rng(0).normal(0, 0.2, (80, 2))
    y = np.repeat(["red", "a", "b", "c"], 20)
    rest, pairs = (kind(LogisticRegression(C=10.0)).fit(X, y) for kind in (OneVsAll, AllPairs))
    assert (rest.column_scores(X)[:20, list(rest.classes_).index("red")] < 0).all()
    assert pairs.score(X, y) == 1.0


def test_bins_of_the_calibration_error_hold_equal_mass():
    generator = np.random.default_rng(0)
    confident = generator.uniform(0.97, 1.0, 200)
    y = (generator.random(200) < 0.5).astype(int)
    proba = np.column_stack([1 - confident, confident])
    # One bin of equal width would hold all rows; bins of equal mass part them all the same.
    assert expected_calibration_error(y, proba, n_bins=2) == pytest.approx(
        np.mean([abs(c.mean() - h.mean()) for c, h in halves(confident, y)]), abs=1e-9
    )
    assert "bins $b$ of equal mass" in page("confidence")


def halves(confidence, right):
    """The less and the more confident half."""
    order = np.argsort(confidence)
    return [(confidence[part], right[part]) for part in np.array_split(order, 2)]


def test_targets_of_the_temperature_are_drawn_in():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    y = (X[:, 0] > 0).astype(int)
    sure = Calibrated(LogisticRegression(C=1.0), held_out=0.5, random_state=0).fit(X, y)
    assert 0 < sure.predict_proba([[2.0]])[0, 0] < 0.5  # no mistake, and yet not certain
    assert "one part in $n + 2$" in page("confidence")


def test_the_logistic_loss_bounds_mistakes_in_bits_only():
    logistic = MARGIN_LOSSES["logistic"]
    assert not logistic.bounds_zero_one
    assert logistic.value(np.array([0.0])) < 1 <= logistic.value(np.array([0.0])) / np.log(2)


def test_models_of_sequences_are_served():
    everything = " ".join(path.read_text("utf-8") for path in DOCS.glob("**/*.md"))
    assert "sequences are not served" not in everything


def test_files_of_crfsuite_are_known_by_their_content(tmp_path):
    assert "CRFsuite files are known by their content" in page("applications")
    path = tmp_path / "sentences"
    path.write_text("N\tw=cat\tshape=x\nV\tw=runs\tshape=x\n\nN\tw=dog\tshape=x\n", "utf-8")
    assert [list(labels) for labels in read(path).y] == [["N", "V"], ["N"]]


def test_binary_is_multiclass_with_a_negative_class_of_weight_zero():
    generator = np.random.default_rng(0)
    w, X = generator.normal(size=3), generator.normal(size=(50, 3))
    for negative, positive in ((0 * w, w), (-w / 2, w / 2)):
        scores = X @ np.column_stack([negative, positive])
        assert np.array_equal(scores.argmax(axis=1) == 1, X @ w > 0)


def test_one_class_has_plus_w_and_the_other_minus_w():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    shares = LogisticRegression().fit(X, y).predict_proba(X)
    flipped = LogisticRegression().fit(X, [1 - k for k in y]).predict_proba(X)
    assert np.allclose(shares, flipped[:, ::-1], atol=1e-3)


def test_entropy_and_divergence_of_densities():
    """The integral of two normal densities is the limit of sums over narrow bins."""
    edges = np.linspace(-3, 3, 4001)
    q, p = (np.diff(norm(m, s).cdf(edges)) for m, s in ((0.0, 0.1), (0.3, 0.2)))
    closed = np.log(0.2 / 0.1) + (0.1**2 + 0.3**2) / (2 * 0.2**2) - 0.5
    assert kl_divergence(q / q.sum(), p / p.sum()) == pytest.approx(closed, rel=1e-3)


#: Page -> what the notes ask for, in the words of the page.
ASKED = {
    "logistic_regression": ["One vector with two signs", "By the chain rule", "For densities"],
    "optimization": ["A fixed step, and one by a schedule"],
    "naive_bayes": ["a million others just got the same mail", r"The tables $P(W \mid"],
    "linear_classifiers": ["unit of McCulloch and Pitts", "the negative class has weight zero"],
    "perceptron": ["It follows in three lines", "Naive Bayes or the perceptron?"],
}
SLIPS = ["inner sum runs over q", "σ, not ∇", "the index is missing", "to K, the number of classes"]


def test_pages_hold_what_the_notes_ask_for():
    missing = [(p, words) for p, asked in ASKED.items() for words in asked if words not in page(p)]
    assert missing == []
    notes = (DOCS / "notes.md").read_text(encoding="utf-8")
    assert [slip for slip in SLIPS if slip not in notes] == []


def test_naive_bayes_sorts_its_tables():
    model = NaiveBayes("multinomial").fit([[3, 1, 0], [0, 1, 5]], ["spam", "ham"])
    for row, best in zip(np.exp(model.feature_log_prob_), (2, 0), strict=True):
        assert row.argmax() == best
        assert row.sum() == pytest.approx(1.0)
