"""Naive Bayes is tried with the models that its columns allow, and tuned under each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from separatrix import registry
from separatrix.experiment import Experiment
from separatrix.experiment.event_models import event_models
from separatrix.experiment.tuning import Rows, refit, tune
from separatrix.features import TableEncoder
from separatrix.report.parts import TrainingCurves
from separatrix.tasks import all_metrics

NAIVE = registry.get("naive_bayes")


def mixed(n=800, seed=0):
    """Four classes, which a text, a category and a number tell a little of each."""
    random = np.random.default_rng(seed)
    y = random.integers(4, size=n)
    words = np.array([f"word{i}" for i in range(80)])
    shares = np.exp(-np.arange(80) / 30)
    shares /= shares.sum()
    texts = [" ".join(random.choice(words, 8, p=np.roll(shares, 10 * c))) for c in y]
    known = random.random(n) < 0.4
    city = np.array(["Rome", "Oslo", "Lima", "Kyiv"])[
        np.where(known, y, random.integers(4, size=n))
    ]
    size = random.normal(size=n) + 0.5 * y
    return {"text": np.array(texts, dtype=object), "city": city.astype(object), "size": size}, y


def rows(table, y, encoder=None):
    encoder = encoder or TableEncoder({"text": "text"}).fit(table)
    return Rows(encoder.transform(table), y, tuple(encoder.feature_kinds())), encoder


@pytest.mark.parametrize(
    ("X", "names"),
    [
        (np.array([[0.0, 2.0], [1.0, 5.0]]), ["gaussian", "multinomial", "bernoulli"]),
        (np.array([[0.5, 2.0], [1.0, 5.0]]), ["gaussian", "multinomial"]),
        (np.array([[0.0, -2.0], [1.0, 5.0]]), [""]),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), ["bernoulli", "multinomial"]),
        (sp.csr_array(np.array([[0.0, 2.0], [1.0, 5.0]])), ["multinomial", "bernoulli"]),
        (sp.csr_array(np.array([[0.0, -2.0], [1.0, 5.0]])), [""]),
    ],
)
def test_values_decide_which_models_are_possible(X, names):
    assert list(event_models(Rows(X, None))) == names


def test_a_table_has_a_factor_for_every_column():
    table, y = mixed(50)
    found, encoder = rows(table, y)
    models = event_models(found)
    assert list(models) == ["multinomial texts", "bernoulli texts"]
    by_name = dict(zip(encoder.get_feature_names_out(), models["multinomial texts"], strict=True))
    assert by_name["size"] == "gaussian"
    assert by_name["city=Rome"] == "multinomial:city"
    assert {kind for name, kind in by_name.items() if name.startswith("text:")} == {
        "multinomial:text"
    }


def test_texts_categories_and_numbers_together():
    """On main every column was Gaussian here, and every setting as good as chance."""
    table, y = mixed()
    train, encoder = rows({k: v[:500] for k, v in table.items()}, y[:500])
    held_out, _ = rows({k: v[500:] for k, v in table.items()}, y[500:], encoder)
    found = tune(NAIVE, train, held_out, all_metrics()["accuracy"])
    assert found.held_out > 0.8
    # More than without the text, or without the others.
    for names in (["text"], ["city", "size"]):
        part, own = rows({k: table[k][:500] for k in names}, y[:500], TableEncoder(
            {"text": "text"} if "text" in names else None
        ).fit({k: table[k][:500] for k in names}))  # fmt: skip
        judged, _ = rows({k: table[k][500:] for k in names}, y[500:], own)
        assert tune(NAIVE, part, judged, all_metrics()["accuracy"]).held_out < found.held_out
    again = refit(NAIVE, found.value, train)
    np.testing.assert_array_equal(again.predict(held_out.X), found.estimator.predict(held_out.X))


def test_every_parameter_that_is_tuned_does_something():
    table, y = mixed(300)
    found, _ = rows(table, y)
    curve = tune(NAIVE, found, found, all_metrics()["log_loss"]).curve
    for name in ("smoothing", "var_smoothing"):
        losses = {getattr(p.value, name): p.held_out for p in curve if p.value.events[0] == "m"}
        assert len(set(losses.values())) > 3, name
    X, y = load_digits(return_X_y=True)
    curve = tune(NAIVE, Rows(X - 1.0, y), Rows(X - 1.0, y), all_metrics()["accuracy"]).curve
    assert {p.value.smoothing for p in curve} == {None}
    assert len({p.held_out for p in curve}) > 3


def test_variances_of_pixels_are_smoothed():
    """0.833 whatever its setting, before; the variances of rare pixels decided it."""
    found = Experiment(load_digits(return_X_y=True), learners=["naive_bayes"]).run()
    assert found.champion.held_out > 0.89
    assert "var_smoothing" in found.champion.setting or "multinomial" in found.champion.setting
    told = found.to_dict()["leaderboard"][0]
    assert told["value"]["events"] in found.champion.setting
    (pictures,) = [part for part in found.parts if isinstance(part, TrainingCurves)]
    titles = {curve.learner for curve in pictures.curves}
    assert "naive_bayes, multinomial" in titles


def test_a_frame_from_end_to_end(tmp_path):
    from separatrix.models import load

    table, y = mixed(1000)
    frame = pd.DataFrame(table).assign(label=np.array(list("abcd"))[y])
    path = tmp_path / "mixed.csv"
    frame.to_csv(path, index=False)
    found = Experiment(path, "label", learners=["naive_bayes"]).run()
    assert found.test_score > 0.7
    found.save(tmp_path / "model.sx")
    X = {name: frame[name].to_numpy() for name in ("text", "city", "size")}
    again = load(tmp_path / "model.sx")
    np.testing.assert_array_equal(again.predict(X), found.model.predict(X))
