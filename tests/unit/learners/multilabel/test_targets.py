from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix.data import LabelSets
from separatrix.errors import DataError
from separatrix.learners.multilabel import encode_sets, label_sets, read_sets
from separatrix.learners.multilabel.targets import given_back

MATRIX = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1], [0, 1, 0]])
NAMES = ["beach", "sea", "sky"]
SETS = [["sea", "sky"], [], ["beach", "sky"], ["sea"]]


@pytest.mark.parametrize(
    "Y",
    [
        MATRIX,
        MATRIX.astype(bool),
        MATRIX.astype(float),
        sp.csr_matrix(MATRIX),
        sp.csc_array(MATRIX),
        pd.DataFrame(MATRIX, columns=NAMES),
        SETS,
        tuple(tuple(row) for row in SETS),
        [set(row) for row in SETS],
        [frozenset(row) for row in SETS],
        pd.Series(SETS),
        np.array([*SETS, None], dtype=object)[:-1],
        LabelSets.of(SETS),
    ],
)
def test_all_forms_say_the_same(Y):
    matrix, labels, form = read_sets(Y, 4)
    assert matrix.tolist() == MATRIX.tolist()
    assert labels.tolist() in (NAMES, [0, 1, 2])
    back = given_back(matrix, labels, form)
    again = read_sets(back, 4)
    assert again[0].tolist() == MATRIX.tolist()
    assert again[2] == form


def test_a_form_is_given_back():
    assert isinstance(given_back(MATRIX, np.arange(3), "array"), np.ndarray)
    assert sp.issparse(given_back(MATRIX, np.arange(3), "sparse"))
    sets = given_back(MATRIX, np.array(NAMES), "sets")
    assert isinstance(sets, LabelSets)
    assert [list(row) for row in sets] == SETS
    # Labels that nobody got are not forgotten.
    assert given_back(0 * MATRIX, np.array(NAMES), "sets").classes.tolist() == NAMES


def test_known_labels_rule():
    known = np.array(["beach", "sea", "sky", "wood"])
    assert encode_sets(SETS, 4, known).tolist() == np.c_[MATRIX, [0] * 4].tolist()
    with pytest.raises(DataError, match="row 1 has the label 'sea', which the model does not know"):
        encode_sets([["beach"], ["sea"]], 2, np.array(["beach"]))
    with pytest.raises(DataError, match="Y has 3 labels, the model knows 4"):
        encode_sets(MATRIX, 4, known)


def test_label_sets_of_a_matrix():
    assert list(label_sets(MATRIX)) == [(1, 2), (), (0, 2), (1,)]


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0, 1], [3, 0]]), "Y holds 3 in row 1, column 0"),
        (np.array([[0, 1], [np.nan, 0]]), "Y holds nan in row 1, column 0"),
        (sp.csr_matrix([[0.0, 1.0], [0.0, -1.0]]), "Y holds -1.0 in row 1, column 1"),
        (np.array([0, 1]), r"got shape \(2,\)"),
        (np.array([["a"], ["b"]]), "got an array of <U1"),
        (np.zeros((2, 0)), "Y has no labels"),
        ([[], []], "Y has no labels"),
        (np.zeros((3, 2)), "X has 2 rows, Y has 3"),
        ([["a"]], "X has 2 rows, Y has 1"),
        (["a b", "c"], "row 0 is 'a b'"),
        ("ab", "got str"),
        (5, "got int"),
        ([["a", "b"], ["b", "b"]], "row 1 has the label 'b' twice"),
        ([[0, 0, 1], [1, 0, 1]], "row 0 has the label 0 twice; a binary matrix is to be given as"),
        ([["a"], [None]], "row 1 has a label without a name"),
        ([["a"], [3]], "labels are of several types: int, str"),
    ],
)
def test_bad_label_sets_are_named(Y, message):
    with pytest.raises(DataError, match=message):
        read_sets(Y, 2)


def test_no_rows():
    with pytest.raises(DataError, match="Y has no rows"):
        read_sets(np.zeros((0, 2)), 0)
