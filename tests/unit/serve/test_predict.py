"""The service says what the model says, for every kind of model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris

from separatrix import CostMatrix, explain, load
from tests.unit.serve.served import people, sentences, texts, with_tags


def test_texts(ask, paths):
    model, (X, _) = load(paths["mail"]), texts()
    found = ask("mail", rows=X, probabilities=True, top=1)
    assert found["model"] == "mail"
    assert found["classes"] == ["ham", "spam"]
    said = found["predictions"]
    assert [one["label"] for one in said] == model.predict(X).tolist()
    shares = np.array([one["probabilities"] for one in said])
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    assert [one["top"][0]["label"] for one in said] == model.predict(X).tolist()
    assert [one["top"][0]["probability"] for one in said] == shares.max(axis=1).tolist()


def test_one_row_is_the_row_among_many(ask):
    X, _ = texts()
    one = ask("mail", row=X[0], probabilities=True)["predictions"]
    assert one == ask("mail", rows=X, probabilities=True)["predictions"][:1]


def test_a_label_alone_needs_no_probabilities(ask, paths):
    X, _ = texts()
    said = ask("svm", rows=X)["predictions"]
    assert said == [{"label": label} for label in load(paths["svm"]).predict(X)]


def test_tables_with_gaps(ask, paths):
    table, _ = people(40)
    rows = [
        {name: None if values[i] != values[i] else values[i].item()
         if hasattr(values[i], "item") else values[i] for name, values in table.items()}
        for i in range(40)
    ]  # fmt: skip
    assert any(row["age"] is None for row in rows)
    said = ask("people", rows=rows, probabilities=True)["predictions"]
    model = load(paths["people"])
    np.testing.assert_allclose([one["probabilities"] for one in said], model.predict_proba(table))
    # The order of the fields does not matter.
    turned = [dict(reversed(row.items())) for row in rows]
    assert ask("people", rows=turned, probabilities=True)["predictions"] == said


def test_a_frame_without_an_encoder(ask, paths):
    iris = load_iris(as_frame=True)
    rows = iris.data.iloc[::30].to_dict("records")
    said = [one["label"] for one in ask("frame", rows=rows)["predictions"]]
    assert said == load(paths["frame"]).predict(iris.data.iloc[::30]).tolist()


def test_numbers_dense_and_sparse(ask, paths):
    X = load_iris().data[::25]
    expected = load(paths["iris"]).predict(X).tolist()
    said = ask("iris", rows=X.tolist())["predictions"]
    assert [one["label"] for one in said] == expected
    sparse = [{"indices": [3, 0, 1, 2], "values": row[[3, 0, 1, 2]].tolist()} for row in X]
    mixed = [*sparse[:3], *X.tolist()[3:]]
    for rows in (sparse, mixed):
        assert [one["label"] for one in ask("iris", rows=rows)["predictions"]] == expected


def test_images_as_lines_of_pixels(ask, paths):
    digits = load_digits()
    flat = ask("digits", rows=digits.data[:5].tolist())["predictions"]
    assert ask("digits", rows=digits.images[:5].tolist())["predictions"] == flat
    assert [one["label"] for one in flat] == load(paths["digits"]).predict(digits.data[:5]).tolist()


def test_quantities_with_intervals(ask, paths):
    X, _ = load_diabetes(return_X_y=True, as_frame=True)
    rows = X.iloc[:4].to_dict("records")
    wide, narrow = (ask("sugar", rows=rows, level=p)["predictions"] for p in (0.99, 0.5))
    model = load(paths["sugar"])
    expected = model.predict({name: X[name].to_numpy()[:4] for name in X})
    np.testing.assert_allclose([one["value"] for one in wide], expected)
    for w, n in zip(wide, narrow, strict=True):
        ends = [w["interval"][0], n["interval"][0], w["value"], n["interval"][1], w["interval"][1]]
        assert ends == sorted(set(ends))


def test_bayes_action_under_a_cost(ask, paths):
    X, _ = texts()
    P = load(paths["mail"]).predict_proba(X)
    cost = [[0, 1], [9, 0]]
    risks = CostMatrix(cost, 0.3).risks(P)
    for one, row in zip(
        ask("mail", rows=X, cost=cost, reject=0.3)["predictions"], risks, strict=True
    ):
        best = int(row.argmin())
        assert one["action"]["rejected"] == (best == 2)
        assert one["action"]["label"] == (["ham", "spam", None][best])
        assert one["action"]["expected_cost"] == pytest.approx(row[best])


def test_a_model_with_its_own_costs(ask, paths):
    X, _ = texts()
    said = [one["label"] for one in ask("cost", rows=X)["predictions"]]
    assert said == load(paths["cost"]).predict(X).tolist()


@pytest.mark.parametrize("name", ["mail", "bayes", "svm", "cost"])
def test_explanations_of_texts_add_up(ask, paths, name):
    text = "Free lunch, no MONEY today"
    found = ask(name, row=text, explain=True)["predictions"][0]["explanation"]
    known = explain(load(paths[name]), text)
    assert found["for"] == known.prediction
    assert {found["for"], found["against"]} == set(known.labels)
    sign = 1 if known.labels[0] == known.prediction else -1
    apart = known.addends[:, 0] - (known.addends[:, 1] if known.addends.shape[1] > 1 else 0)
    assert found["total"] == pytest.approx(sign * apart.sum())
    assert sum(term["adds"] for term in found["terms"]) == pytest.approx(found["total"])
    intercept = next(t["adds"] for t in found["terms"] if t["column"] is None)
    words = sum(share for _, _, share in found["words"])
    assert words + intercept == pytest.approx(found["total"])
    assert [text[a:b] for a, b, _ in found["words"]] == ["Free", "lunch", "no", "MONEY", "today"]
    assert "no" in found["unknown"]


def test_explanations_of_rows(ask):
    row = {"age": 70.0, "city": "Rome", "member": False, "since": "2014-03-01"}
    found = ask("people", row=row, explain=True)["predictions"][0]["explanation"]
    terms = {term["name"]: term["adds"] for term in found["terms"]}
    assert found["for"] == "late"
    assert terms["city=Rome"] > 0
    assert terms["age"] > 0
    few = ask("people", row=row, explain=True, terms=1)["predictions"][0]["explanation"]
    assert len(few["terms"]) == 3
    assert few["total"] == pytest.approx(found["total"])
    pixels = load_digits().data[0].tolist()
    found = ask("digits", row=pixels, explain=True)["predictions"][0]["explanation"]
    assert found["for"] == 0
    assert {term["column"] for term in found["terms"]} <= {None, *range(64)}


def test_sequences(ask, paths):
    words, _ = sentences()
    model = load(paths["tagger"])
    found = ask("tagger", rows=words, probabilities=True, top=2)
    said = found["predictions"]
    assert [one["labels"] for one in said] == model.predict(words)
    encoded = model[0].transform(words)
    for one, expected in zip(said, model[1].predict_proba(encoded), strict=True):
        np.testing.assert_allclose(one["probabilities"], expected)
        np.testing.assert_allclose(np.sum(one["probabilities"], axis=1), 1)
        best, second = one["top"]
        assert best["labels"] == one["labels"] != second["labels"]
        assert 1 >= best["probability"] > second["probability"] > 0
    first = model[1].log_likelihood(encoded, [one["top"][1]["labels"] for one in said])
    np.testing.assert_allclose([one["top"][1]["probability"] for one in said], np.exp(first))


def test_sequences_in_every_form(ask, paths):
    words, tags = sentences()
    columns = with_tags(words, tags)
    named = [[{"word": w, "pos": t} for w, t in line] for line in columns]
    expected = load(paths["chunker"]).predict(columns)
    for rows in (columns, named):
        assert [one["labels"] for one in ask("chunker", rows=rows)["predictions"]] == expected
    best, second = ask("chunker", row=columns[0], top=2)["predictions"][0]["top"]
    assert best["score"] > second["score"]
    assert best["probability"] is None
    attributes = [[{"word": w} for w in line] for line in words]
    listed = [[[f"word:{w}"] for w in line] for line in words]
    expected = load(paths["crf"]).predict(attributes)
    for rows in (attributes, listed):
        assert [one["labels"] for one in ask("crf", rows=rows)["predictions"]] == expected
    assert ask("crf", rows=[[], attributes[0]])["predictions"][0] == {"labels": []}


def test_minimum_risk_of_sequences(ask, paths):
    words, _ = sentences()
    model = load(paths["tagger"])
    K = len(model[1].classes_)
    cost = 1 - np.eye(K)
    cost[:, 0] *= 5
    said = ask("tagger", rows=words, cost=cost.tolist())["predictions"]
    expected = model[1].predict_minimum_risk(model[0].transform(words), cost)
    assert [one["action"]["labels"] for one in said] == expected
