"""Rows as JSON has them are checked and read by the schema of the model's training file."""

import csv

import pytest

from separatrix import models
from separatrix.experiment import Experiment
from separatrix.tasks import FieldError


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file whose numbers have a currency, whose dates begin with the day, with words for yes."""
    folder = tmp_path_factory.mktemp("written")
    lines = ["price,when,member,wait,color,bought"]
    for n in range(80):
        bought = ("no", "sure")[n % 2]
        price = "N/A" if n % 9 == 4 else f"${1_000 * (n % 2) + n}.50"
        member = ("yes", "no")[n % 3 == 0]
        lines.append(
            f"{price},{n % 28 + 1}/{n % 12 + 1}/2019,{member},0:{n % 50 + 10}:00,"
            f"{('red', 'blue')[n % 2 ^ (n % 7 == 0)]},{bought}"
        )
    (folder / "sales.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    experiment = Experiment(
        folder / "sales.csv", target="bought", learners=["logistic_regression"], random_state=0
    )
    experiment.run().save(folder / "sales.sx")
    return folder / "sales.sx"


def test_cells_of_the_file_as_strings_predict_as_the_file_does(path):
    model = models.open(path)
    with (path.parent / "sales.csv").open(encoding="utf-8") as file:
        rows = [{k: v for k, v in row.items() if k != "bought"} for row in csv.DictReader(file)]
    data = model.inputs.read(path.parent / "sales.csv")
    expected = model.estimator.predict_proba(model.take(data)).tolist()
    found = [one["probabilities"] for one in model.predict(rows, probabilities=True)]
    assert found == expected


def test_values_of_json_are_taken_as_they_are(path):
    row = {"price": 7.5, "when": "2019-03-31", "member": True, "wait": 90, "color": "red"}
    words = {"price": "$7.50", "when": "31/3/2019", "member": "yes", "wait": "0:01:30"}
    model = models.open(path)
    first, second = model.predict([row, row | words], probabilities=True)
    assert first == second
    assert model.predict([model.reader.example()])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"price": "much"}, r"rows\[0\].price: must be a number, or as 1234.5 \$, got a string"),
        ({"when": "31/13/2019"}, r"rows\[0\].when: must be a date \(ISO 8601\), or as dmy"),
        ({"member": 7}, r"rows\[0\].member: must be true or false, or as yes/no, got a number"),
        ({"wait": "soon"}, r"rows\[0\].wait: must be a length of time"),
        ({"price": 1e999}, r"rows\[0\].price: must be a finite number"),
        ({"color": ["red"]}, r"rows\[0\].color: must be a string"),
    ],
)
def test_what_the_schema_cannot_read_is_an_error_with_its_place(path, wrong, message):
    model = models.open(path)
    with pytest.raises(FieldError, match=message):
        model.predict([model.reader.example() | wrong])
