"""B1 to B3: reading a table, the whole of `train`, and `predict`, from the path on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import tables
from benchmarks.data import Data
from benchmarks.spec import Bound, Case, Contender


def _reading(name: str, title: str, data: str) -> Case:
    def contender(
        peer: str, run: Callable[[str], Any], ours: bool = False, rival: bool = True
    ) -> Contender:
        prepare, read = tables.prepare_path, tables.read_nothing
        return Contender(peer, prepare, run, read, ours=ours, rival=rival)

    return Case(
        name=name,
        title=title,
        data=data,
        contenders=(
            contender("separatrix.data.read", tables.read_ours, ours=True),
            contender("pandas, C reader", tables.read_pandas),
            contender("pyarrow", tables.read_pyarrow, rival=False),
        ),
        bounds=(Bound("time", must=1.5, goal=3),),
        note="Ours also decides what every column holds, and finds dates, codes and texts. At most "
        "1.5 times pyarrow's time is asked for too; it leaves texts as bytes.",
    )


def _working(
    name: str,
    title: str,
    prepare: Callable[[Data], Any],
    ours: Callable[..., Any],
    script: Callable[..., Any],
    note: str,
) -> Case:
    return Case(
        name=name,
        title=title,
        data="table-numbers",
        contenders=(
            Contender("separatrix", prepare, ours, tables.read_nothing, ours=True),
            Contender("pandas + scikit-learn", prepare, script, tables.read_nothing),
        ),
        bounds=(Bound("time", must=1, goal=2),),
        cap=300.0,
        note=note,
    )


CASES = [
    _reading("b1a", "read CSV, 1,000,000 x 20 numbers and a class", "table-numbers"),
    _reading("b1b", "read CSV, 1,000,000 rows of words, numbers, dates and texts", "table-mixed"),
    _working(
        "b2",
        "train logistic regression on CSV, 1,000,000 x 20, start to end",
        tables.prepare_path,
        tables.train_ours,
        tables.train_script,
        "A process each, imports included. Ours tunes C on held-out rows beside two baselines, "
        "fits again, calibrates, tests, and looks for leaks and duplicates; the script fits once.",
    ),
    _working(
        "b3",
        "predict CSV, 1,000,000 x 20, start to end, writing included",
        tables.prepare_models,
        tables.predict_ours,
        tables.predict_script,
        "A process each, imports included. 500,000 rows a second are asked for once it runs.",
    ),
]
