"""Tables as files, made by code, and what reads, learns from and predicts them."""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import CACHE, Data
from benchmarks.spec import Outcome

#: Rows of the tables.
N_ROWS = 1_000_000

#: What a user would write instead, with pandas and scikit-learn.
FIT = """
import pickle, sys
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

frame = pd.read_csv(sys.argv[1])
y = frame.pop("y")
X_train, X_test, y_train, y_test = train_test_split(frame, y, test_size=0.2, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
print(model.score(X_test, y_test))
with open(sys.argv[2], "wb") as file:
    pickle.dump(model, file)
"""
PREDICT = """
import pickle, sys
import pandas as pd

with open(sys.argv[2], "rb") as file:
    model = pickle.load(file)
frame = pd.read_csv(sys.argv[1]).drop(columns="y")
pd.DataFrame({"prediction": model.predict(frame)}).to_csv(sys.argv[3], index=False)
"""


def make_numbers(path: Path) -> None:
    """Write rows of 20 normal numbers of four decimals and a class that they tell in part."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 20)).round(4)
    noise = 2 * generator.logistic(size=N_ROWS)
    y = np.where(X @ generator.normal(size=20) + noise > 0, "yes", "no")
    _write(path, {f"x{at}": X[:, at] for at in range(20)} | {"y": y})


def make_mixed(path: Path) -> None:
    """Write rows of categories, numbers, dates and short texts."""
    generator = np.random.default_rng(0)
    words = np.array([f"w{at}" for at in range(5000)])
    price = generator.gamma(2, 20, N_ROWS).round(2)
    texts = words[generator.integers(0, 5000, (N_ROWS, 6))]
    days = np.datetime64("2019-01-01") + generator.integers(0, 1500, N_ROWS)
    columns = {
        "city": words[generator.integers(0, 200, N_ROWS)],
        "price": price,
        "count": generator.integers(0, 1000, N_ROWS),
        "kind": words[generator.integers(0, 12, N_ROWS)],
        "note": [" ".join(row) for row in texts],
        "when": days.astype(str),
        "y": np.where(price + 20 * generator.normal(size=N_ROWS) > 40, "a", "b"),
    }
    _write(path, columns)


def _write(path: Path, columns: dict[str, Any]) -> None:
    frame = importlib.import_module("pandas").DataFrame(columns)
    path.parent.mkdir(exist_ok=True)
    staged = path.with_suffix(".part")
    frame.to_csv(staged, index=False)
    os.replace(staged, path)


def file_of(name: str) -> Data:
    """Return the path of a table in the place of rows, which is made where it is not there."""
    path = CACHE / f"{name}.csv"
    if not path.exists():
        {"table-numbers": make_numbers, "table-mixed": make_mixed}[name](path)
    rows, label = np.array([str(path)], dtype=object), np.zeros(1, dtype=np.int64)
    return Data(rows, label, rows, label)


def prepare_path(data: Data) -> str:
    """Return the path of the file."""
    return str(data.X_train[0])


def prepare_models(data: Data) -> tuple[str, str]:
    """Return the path of the file, and a folder with a model of ours and one of the script."""
    path, folder = prepare_path(data), tempfile.mkdtemp()
    train_ours(path, folder)
    train_script(path, folder)
    return path, folder


def read_ours(path: str) -> Any:
    """Run `separatrix.data.read`."""
    return importlib.import_module("separatrix.data").read(path, target=None)


def read_pandas(path: str) -> Any:
    """Run `pandas.read_csv`, with its C reader."""
    return importlib.import_module("pandas").read_csv(path)


def read_pyarrow(path: str) -> Any:
    """Run `pyarrow.csv.read_csv`, on all cores."""
    return importlib.import_module("pyarrow.csv").read_csv(path)


def _run(*words: str) -> float:
    """Run Python with these words, and return its peak memory in MB."""
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def train_ours(path: str, folder: str | None = None) -> float:
    """Run `separatrix train` in a process of its own."""
    save = Path(folder or tempfile.mkdtemp(), "model.sx")
    words = ("-t", "y", "-l", "logistic_regression", "--save", str(save), "--quiet")
    return _run("-m", "separatrix", "train", path, *words)


def train_script(path: str, folder: str | None = None) -> float:
    """Run the script of pandas and scikit-learn."""
    return _run("-c", FIT, path, str(Path(folder or tempfile.mkdtemp(), "model.pkl")))


def predict_ours(prepared: tuple[str, str]) -> float:
    """Run `separatrix predict` in a process of its own."""
    path, folder = prepared
    out = str(Path(folder, "ours.csv"))
    model = str(Path(folder, "model.sx"))
    return _run("-m", "separatrix", "predict", model, path, "--quiet", "--out", out)


def predict_script(prepared: tuple[str, str]) -> float:
    """Run the script of pandas and scikit-learn."""
    path, folder = prepared
    return _run(
        "-c", PREDICT, path, str(Path(folder, "model.pkl")), str(Path(folder, "theirs.csv"))
    )


def read_nothing(prepared: Any, raw: Any) -> Outcome:
    """Only time counts; of what ran in a process of its own, also its memory."""
    return Outcome(peak_mb=raw if isinstance(raw, float) else None)
