"""A budget: one good learner is tried in it, and what is not worth having is said to be so."""

import json
import random


def lines(n, noise):
    rng = random.Random(0)
    for _ in range(n):
        x, z = rng.gauss(0, 1), rng.gauss(0, 1)
        y = rng.random() < 0.8 if noise else x + z > 0
        yield f"{x:.3f},{z:.3f},{'yes' if y else 'no'}"


def test_a_short_budget_still_has_a_learner(run, file):
    name = file("rows.csv", ["x,z,y", *lines(300, noise=False)])
    done = run("compare", name, "-t", "y", "--budget", "0.5s", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["champion"] == "logistic_regression"
    assert told["test"][0]["score"] > 0.8


def test_a_baseline_as_champion_is_an_error(run, file, tmp_path):
    name = file("noise.csv", ["x,z,y", *lines(300, noise=True)])
    done = run("compare", name, "-t", "y", "--learners", "perceptron", "--save", "model.sx")
    assert done.code == 1
    assert "the result is not worth having" in done.err
    assert "majority_class" in done.out
    assert not (tmp_path / "model.sx").exists()
    asked = run("train", name, "-t", "y", "-l", "majority_class", "--save", "model.sx")
    assert asked.code == 0, asked.err
