"""Code matrices: distances, errors corrected, the codes by name, and what is refused."""

from itertools import combinations, product

import numpy as np
import pytest

from separatrix.errors import ParameterError
from separatrix.learners.reductions import CODES, CodeMatrix, confusion_code, make_code
from separatrix.learners.reductions.bch import bch_words
from separatrix.learners.reductions.decoding import hamming_distances

#: The example of seed 000: 8 classes, 6 bits; its 0 stands for -1.
SEED = (
    2
    * np.array(
        [
            [0, 0, 0, 1, 0, 0],
            [1, 0, 0, 0, 0, 0],
            [0, 1, 1, 0, 1, 0],
            [1, 1, 0, 0, 0, 0],
            [1, 1, 0, 0, 1, 0],
            [0, 0, 1, 1, 0, 1],
            [0, 0, 1, 0, 0, 0],
            [0, 1, 0, 1, 0, 0],
        ]
    )
    - 1
)


def test_the_example_of_the_notes():
    code = CodeMatrix(SEED)
    assert (code.minimum_distance, code.errors_corrected) == (1.0, 0)
    answers = 2.0 * np.array([[0, 1, 1, 0, 1, 1]]) - 1
    distances = hamming_distances(answers, code)[0]
    assert distances.argmin() == 2  # the third class
    assert distances.tolist() == (answers[0] != SEED).sum(axis=1).tolist()
    assert "8 classes, 6 columns" in str(code)
    assert str(code).splitlines()[1].split() == ["1", "-", "-", "-", "+", "-", "-"]
    assert "corrects no error" in str(code)


def worst_case(code):
    """Errors that Hamming decoding survives, by trying all answers."""
    M = code.values
    survived = code.n_columns
    answers = np.array(list(product((-1.0, 1.0), repeat=code.n_columns)))
    distances = hamming_distances(answers, code)
    for k, word in enumerate(M):
        others = np.delete(distances, k, axis=1).min(axis=1)
        wrong = ((answers * word) < 0).sum(axis=1)[distances[:, k] >= others]
        if len(wrong):
            survived = min(survived, max(0, wrong.min() - 1))
    return survived


@pytest.mark.parametrize("name", ["one_vs_all", "all_pairs", "minimal", "exhaustive", "hadamard"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_errors_corrected_by_enumeration(name, n_classes):
    code = make_code(name, n_classes)
    assert code.errors_corrected == worst_case(code)


@pytest.mark.parametrize("seed", range(6))
def test_errors_corrected_of_random_codes_by_enumeration(seed):
    for name in ("random_dense", "random_sparse"):
        code = make_code(name, 3, 11, seed)
        assert code.errors_corrected == worst_case(code)


def test_distances_are_counted():
    code = make_code("random_sparse", 5, 12, 0)
    M = code.values
    for i, j in combinations(range(5), 2):
        counted = sum(
            0.5 if a == 0 or b == 0 else float(a != b) for a, b in zip(M[i], M[j], strict=True)
        )
        assert code.row_distances[i, j] == code.row_distances[j, i] == counted
    for k, m in combinations(range(12), 2):
        to, away = (
            sum(
                0.5 if a * b == 0 else float(a != b)
                for a, b in zip(M[:, k], s * M[:, m], strict=True)
            )
            for s in (1, -1)
        )
        assert code.column_distances[k, m] == min(to, away)


def test_all_pairs_has_the_distance_of_allwein():
    k = 7
    assert make_code("all_pairs", k).minimum_distance == (k * (k - 1) / 2 - 1) / 2 + 1
    assert make_code("one_vs_all", k).minimum_distance == 2


@pytest.mark.parametrize("name", sorted(CODES))
@pytest.mark.parametrize("n_classes", [2, 3, 5, 8, 11])
def test_every_name_makes_a_code(name, n_classes):
    code = make_code(name, n_classes, random_state=1)
    assert code.n_classes == n_classes
    assert code.minimum_distance > 0


def test_sizes_of_allwein_and_best_of_many():
    dense, sparse = (
        make_code("random_dense", 26, random_state=0),
        make_code("random_sparse", 26, None, 0),
    )
    assert (dense.n_columns, sparse.n_columns) == (48, 71)
    assert 0.4 < (sparse.values == 0).mean() < 0.6
    rng = np.random.default_rng(0)
    usual = CodeMatrix(rng.choice([-1, 1], (26, 48))).minimum_distance
    assert dense.minimum_distance >= usual
    again = make_code("random_dense", 26, random_state=0)
    np.testing.assert_array_equal(dense.values, again.values)


def test_exhaustive_has_every_split_once():
    M = make_code("exhaustive", 5).values
    splits = {tuple(column * column[0]) for column in M.T}
    assert len(splits) == M.shape[1] == 15
    assert make_code("exhaustive", 5).minimum_distance == 8


@pytest.mark.parametrize(
    ("length", "n_words", "distance"), [(15, 16, 7), (31, 30, 15), (63, 60, 31)]
)
def test_bch_words_are_linear_and_far_apart(length, n_words, distance):
    words = bch_words(length, n_words)
    assert words.shape[1] == length
    assert len(words) >= n_words
    known = {tuple(word) for word in words} | {(0,) * length, (1,) * length}
    assert all(tuple(a ^ b) in known for a, b in combinations(words[:20], 2))
    assert min((a != b).sum() for a, b in combinations(words, 2)) >= distance


def test_confused_classes_get_columns_of_their_own():
    confusion = np.eye(6) * 20
    confusion[0, 1] = confusion[1, 0] = 9
    code = confusion_code(confusion, 6)
    pairs = [c for c in code.values.T if (c != 0).sum() == 2]
    assert any(c[0] * c[1] == -1 for c in pairs)
    split = next(c for c in code.values.T if (c != 0).all())
    assert split[0] == split[1]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1, -1], [1, -1], [-1, 1]], "rows 0 and 1 of the code are equal"),
        ([[1, 1], [1, -1], [1, -1]], "column 0 of the code has no -1"),
        ([[0, 1], [-1, -1]], "column 0 of the code has no \\+1"),
        ([[1, 2], [-1, 1]], "code\\[0, 1\\] = .*2.*: entries must be -1, 0 or \\+1"),
        ([1, -1], "shape \\(2,\\)"),
        ([[1, -1]], "two rows or more"),
    ],
)
def test_what_is_no_code_is_named(values, words):
    with pytest.raises(ParameterError, match=words):
        CodeMatrix(np.array(values))


def test_lengths_and_names_are_checked():
    with pytest.raises(ParameterError, match="cannot tell 9 classes apart"):
        make_code("random_dense", 9, 3)
    with pytest.raises(ParameterError, match="at most 15"):
        make_code("exhaustive", 16)
    with pytest.raises(ParameterError, match="length of its own"):
        make_code("hadamard", 4, 9)
    with pytest.raises(ParameterError, match="code must be one of"):
        make_code("golay", 4)
    with pytest.raises(ParameterError, match="1023 columns"):
        make_code("bch", 4, 2000)
    with pytest.raises(ParameterError, match="square"):
        confusion_code(np.ones((2, 3)))
