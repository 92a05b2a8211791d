"""Random malformed arguments at every function and class of the extension.

Each name has a valid call; one or two of its arguments are replaced by junk. The call must return
or raise a typed error. A crash ends the test run; a panic or "bug" error fails the test.
"""

import contextlib
import inspect
from random import Random

import numpy as np
import pytest

from separatrix import _core

# OSError: a path that is not there; MemoryError: sizes that nobody has memory for.
ALLOWED = (TypeError, ValueError, OverflowError, OSError, MemoryError)
N, D, K = 6, 3, 2


def values(dtype=np.float64):
    return np.random.default_rng(0).normal(size=(N, D)).astype(dtype)


def dense(dtype=np.float64):
    return _core.Dense(values(dtype))


def csr(dtype=np.float64):
    X = values(dtype)
    return _core.Csr(
        np.arange(0, N * D + 1, D, dtype=np.int32),
        np.tile(np.arange(D, dtype=np.int32), N),
        X.ravel(),
        D,
    )


def view(column=0, value=1.0):
    """Borrowed rows, the second of which has a cell that may be bad."""
    columns, data = np.tile(np.arange(D, dtype=np.int32), N), values().ravel().copy()
    columns[D], data[D] = column, value
    return _core.Csr(np.arange(0, N * D + 1, D, dtype=np.int32), columns, data, D)


SIGNS = np.array([1.0, -1.0] * (N // 2))
CODES = np.array([0, 1] * (N // 2), dtype=np.int64)
ONES = np.ones(N)
OFFSETS = np.array([0, 2, N], dtype=np.int64)


def duals():
    return np.ones((N, K)), np.ones((N, K)), np.ones((N, K), dtype=np.bool_), np.zeros((N, K))


def chains():
    """Two sequences of tokens with a weight for every attribute and label."""
    starts, labels = np.arange(0, D * K + 1, K), np.tile(np.arange(K), D)
    return _core.Chains(csr(), np.array([0, 2, N]), starts, labels, K, True)


def margin():
    """A structured SVM on the sequences of `chains`."""
    none = np.full(K, -1)
    links = np.arange(K * K + 1), np.arange(K * K), none, none, K * K
    graph = _core.ChainGraph.first_order(K)
    return [chains(), graph, links, CODES, 1.0 - np.eye(K), np.ones(2), np.ones(2)]


def segment_kinds():
    """One kind of segments: of one token with tag 0, or of two with the tags 0 and 1."""
    return np.array([0]), np.array([1]), np.array([2])


def chain_scores():
    return values()[:, :K].copy(), np.zeros(K * K), np.zeros(K), np.zeros(K)


def valid_calls():
    """A valid list of arguments for every public name."""
    X = values()
    w1, wk = np.zeros((D + 1, 1)), np.zeros((D + 1, K))
    return {
        "Csr": [
            np.arange(0, N * D + 1, D, dtype=np.int32),
            np.tile(np.arange(D, dtype=np.int32), N),
            X.ravel().copy(),
            D,
        ],
        "Dense": [X],
        "ChainGraph": [K, np.arange(K), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])],
        "chain_best": [_core.ChainGraph.first_order(K), chain_scores(), OFFSETS, 1],
        "chain_k_best": [_core.ChainGraph.first_order(K), chain_scores(), OFFSETS, 3, 1],
        "chain_log_partition": [_core.ChainGraph.first_order(K), chain_scores(), OFFSETS, 1],
        "chain_marginals": [_core.ChainGraph.first_order(K), chain_scores(), OFFSETS, True, 1],
        "chain_sample": [_core.ChainGraph.first_order(K), chain_scores(), OFFSETS, 2, 0, 1],
        "segments_best": [segment_kinds(), (*chain_scores(), np.ones(2)), OFFSETS, 1],
        "segments_marginals": [segment_kinds(), (*chain_scores(), np.ones(2)), OFFSETS, 1],
        "Chains": [
            csr(), OFFSETS, np.arange(0, D * K + 1, K), np.tile(np.arange(K), D), K, False,
            (csr(), np.arange(D + 1), np.zeros(D, dtype=np.int64)),
        ],
        "ChainScorer": [
            np.arange(0, D * K + 1, K), np.tile(np.arange(K), D), np.ones(D * K), K,
        ],
        "ChainDual": [
            chains(), CODES, np.ones(2), np.ones(K * K, dtype=np.bool_), True, 0.1, 0.9, 0,
        ],
        "ChainOnline": [
            chains(), CODES, np.ones(2), np.ones(K * K, dtype=np.bool_), True, "mira", 1.0, False,
            1.0, None,
            (np.zeros(chains().shape[2]), np.zeros(K * K), np.zeros(K), np.zeros(K)), 3, 0,
        ],
        "ChainMargin": margin(),
        "MarginPlanes": [np.ones(2), D, 0],
        "ChainSegments": [_core.ChainMargin(*margin()), 0],
        "ChainVisits": [_core.ChainMargin(*margin()), "frank_wolfe", 0],
        "observed_labels": [csr(), K, CODES, None],
        "column_gram": [csr(), np.arange(D, dtype=np.int64), ONES],
        "scores": [csr(), wk, 1],
        "adjoint": [dense(), np.ones((N, K)), 1],
        "row_scores": [csr(), np.array([0, 2], dtype=np.int64), wk],
        "row_adjoint": [dense(), np.array([0, 2], dtype=np.int64), np.ones((2, K))],
        "double_scores": [csr(), wk, 1],
        "double_adjoint": [dense(), np.ones((N, K)), 1],
        "longest_row": [csr()],
        "losses_at": ["logistic", np.zeros((N, 1)), SIGNS, ONES, 1],
        "fused_value_and_grad": [dense(), "logistic", SIGNS, ONES, w1, 1],
        "gram": [dense(), None, ONES, True, 1],
        "label_gram": [dense(), None, np.ones((N, K)), K, True, 1],
        "moments": [dense(), ONES, ONES, np.zeros(D + 1), 1],
        "expand": [csr(), 0, 2, False, None, True, 1],
        "expand_dense": [dense(), 1, 2, True, 1],
        "joint": [csr(), csr(), 8, False, 1],
        "measure_pixels": [dense(), 1, D, 0.5, True, 1],
        "newton_margins": [dense(), SIGNS, ONES, "hinge", "free", None, 1e-4, 0.0, 50, True, 1],
        "newton_softmax": [dense(), CODES, ONES, K, "free", None, 1e-4, 0.0, 50, False, 1],
        "margin_judgment": [
            "logistic", SIGNS[:, None], SIGNS, ONES, None, (0.0, True), (1.0, 1.0), False, True,
            1e-4, 1,
        ],
        "fixed_moves": [duals(), np.ones((N, K))],
        "interior_moves": [duals(), np.ones((N, K)), ONES, np.ones((N, K))],
        "DualBinary": [csr(), SIGNS, ONES, "hinge", "free", 0, 1, None],
        "DualMulticlass": [
            csr(), CODES, ONES, K, "multiclass_hinge", 1.0 - np.eye(K), "free", 0, 1, None,
        ],
        "solve_columns": [
            csr(), CODES, 2.0 * np.eye(K) - 1.0, ONES, "hinge", "free", 0, 1e-3, 100.0, 20.0,
            True, 2,
        ],
    }  # fmt: skip


def methods_of(made):
    """Call what a handle offers without arguments."""
    for name, member in inspect.getmembers(type(made)):
        if name.startswith("_"):
            continue
        if inspect.isdatadescriptor(member):
            getattr(made, name)
        else:
            for arguments in ((), (1,), (2**40,)):
                with contextlib.suppress(*ALLOWED):
                    getattr(made, name)(*arguments)


DTYPES = [
    np.float64,
    np.float32,
    np.float16,
    np.int32,
    np.int64,
    np.uint8,
    np.bool_,
    np.complex128,
    object,
]
SPECIAL = [0.0, -1.0, 1.0, np.nan, np.inf, -np.inf, 1e300, 1e-300, 7.0, 2.0**40]
NUMBERS = [0.0, -0.0, 0.5, -1.5, np.nan, np.inf, -np.inf, 5e-324, 2.0**53, 1.8e308, -1e-9]
WORDS = ["hinge", "logistic", "multiclass_hinge", "none", "free", "perceptron", "mira"]


def some_text(random, longest):
    return "".join(random.choices("aZ0 .,\n\0é漢😀\u0301", k=random.randint(0, longest)))


def some_array(random):
    """An array of any dtype, shape up to 3-D, layout and value."""
    shape = tuple(random.randint(0, 7) for _ in range(random.randint(0, 3)))
    array = np.full(shape, random.choice(SPECIAL))
    if array.size and random.random() < 0.5:
        array.flat[random.randrange(array.size)] = random.choice(SPECIAL)
    with np.errstate(all="ignore"):
        array = array.astype(random.choice(DTYPES))
    if random.random() < 0.5:
        array = array[::2] if array.ndim else array
    if random.random() < 0.5 and array.ndim == 2:
        array = np.asfortranarray(array)
    return array


def near_miss(random, original):
    """The right array with one thing wrong: length, value, dtype or order."""
    if not isinstance(original, np.ndarray) or original.size == 0 or original.ndim == 0:
        return some_array(random)
    array = original.copy()
    kind = random.choice(["value", "short", "long", "dtype", "order"])
    if kind == "value" and array.dtype.kind in "fi":
        bad = SPECIAL if array.dtype.kind == "f" else [-1, 99, 100]
        with np.errstate(all="ignore"):
            array.flat[random.randrange(array.size)] = random.choice(bad)
    elif kind == "short":
        array = array[:-1]
    elif kind == "long":
        array = np.concatenate([array, array])
    elif kind == "dtype":
        with np.errstate(all="ignore"):
            array = array.astype(random.choice([np.float32, np.float64, np.int32, np.int64]))
    elif kind == "order":
        array = np.asfortranarray(array) if array.ndim == 2 else np.repeat(array, 2)[::2]
    return array


OTHER = [
    lambda random: None,
    lambda random: random.random() < 0.5,
    lambda random: random.randint(-5, 50),
    lambda random: random.choice([2**31, 2**40, -(2**63), 2**64]),
    lambda random: random.choice([*NUMBERS, random.gauss(0, 100)]),
    lambda random: some_text(random, 5),
    lambda random: random.choice(WORDS),
    lambda random: dense(),
    lambda random: csr(),
    lambda random: view(random.choice([0, -1, D, 2**31 - 1]), random.choice([1.0, np.nan, np.inf])),
    lambda random: dense(np.float32),
    lambda random: (some_text(random, 4), *random.choices(NUMBERS, k=3)),
]


def junk(random, original):
    """Something to put in the place of an argument."""
    kind = random.randrange(3)
    if kind == 0:
        return near_miss(random, original)
    return some_array(random) if kind == 1 else random.choice(OTHER)(random)


def public_names():
    return {
        name
        for name, member in inspect.getmembers(_core)
        if not name.startswith("_") and callable(member) and member is not _core.TextRows
    }


def test_every_name_has_a_valid_call():
    assert public_names() == set(CALLS), public_names() ^ set(CALLS)


def graph_calls():
    ends = np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5])
    # Two paths of three nodes, which are images of one row too.
    wiring = [np.array([0, 3, N]), np.array([0, 2, 4]), *ends, np.zeros(4, dtype=np.int64)]
    graph = _core.GraphWiring(*wiring)
    unary, table = values()[:, :K].copy(), np.zeros((1, K, K))
    scores = unary, table, np.ones((4, K, K))
    settings, messages = ("colored", 0.1, 1e-6, 20), np.zeros((8, K))
    return {
        "GraphWiring": wiring,
        "graph_best": [graph, scores, None, 1],
        "graph_log_partition": [graph, scores, 100, 1],
        "graph_marginals": [graph, scores, True, 100, 1],
        "graph_sample": [graph, scores, 2, 0, None, 1],
        "graph_beliefs": [graph, scores, settings, messages, True, 1],
        "graph_max_beliefs": [graph, scores, settings, None, 1],
        "graph_tree_reweighted": [graph, scores, settings, 0, messages, True, 1],
        "graph_mean_field": [graph, scores, settings, np.full((N, K), 1 / K), 1],
        "graph_best_bound": [graph, scores, settings, 0, 1],
        "grid_messages": [
            graph, (unary, table, None), [(1, 3), (1, 3)], False, settings, messages, 1,
        ],
    }  # fmt: skip


def online_calls():
    start = np.zeros((D + 1, 1))
    return {
        "Online": [
            csr(), CODES, None, K, "perceptron", 1.0, "average", start, None, 0, 1, 2,
        ],
        "StepRule": ["adam", 0.9, 0.99, 1e-8, 4],
        "Stochastic": [
            csr(), CODES, None, "hinge", None, start, ("plain", 0.9, 0.99, 1e-8),
            "constant", 0.1, 1.0, 1, True, 0.0, 0.1, D, 0, 2,
        ],
        "curvature_rate": [view(), "logistic", 1],
        "scheduled_rate": ["constant", 0.1, 1.0, 1.0, 0.1],
        "newest_share": [3.0],
        "vote_shares": [
            np.zeros((2, 1)), np.ones((2, 1)), np.zeros(1, np.int64), np.zeros(1, np.int64),
            np.ones(1, np.int64), np.ones(1), np.ones(1, np.int64), 1, K, 1,
        ],
    }  # fmt: skip


def proximal_calls():
    zeros, ones = np.zeros(D + 1), np.ones(D + 1)
    return {
        "quadratic_descent": [np.eye(D + 1), ones, zeros, ones, ones, 1e-6, 10],
        "column_descent": [
            csr(), np.arange(D + 1, dtype=np.int64), ONES, ones, zeros, ones, ones, 1e-6, 10, 0,
        ],
    }  # fmt: skip


def format_calls():
    def block(text):
        return _core.Block(text, 1)

    def integers(*values):
        return np.array(values, dtype=np.int64)

    words = (b"ab", integers(0, 1, 2))
    return {
        "Block": [b"1 2:3", 1],
        "Source": [b"1 2:3"],
        "read_svmlight": [block(b"1 2:3\n"), None, None, 2],
        "conll_layout": [block(b"a b\n")],
        "WordIndex": [b"ab", integers(0, 1, 2)],
        "encode_items": [[[["a", "b"], {"c": 1.5}]], _core.WordIndex(*words), False],
        "read_conll": [block(b"a b\n"), "space", None, 2],
        "read_csv": [b"1,a\n2,b\n", 0, 44, b"\1\2", [b""], (1, 1), None, True, 2],
        "read_crfsuite": [block(b"a\tb\n"), 2],
        "write_rows": [[np.ones(2), (integers(0, 1), ["a", "b"])], ["", ",", "\n"], 1],
        "identity_codes": [["a", "b", "a"]],
        "write_svmlight": [
            np.ones(1), integers(0, 1), integers(), integers(0, 1), integers(3), np.ones(1),
            1, 0, 1,
        ],
        "write_crfsuite": [
            integers(0, 1), np.ones(1), integers(1), words, integers(0, 1), integers(0), np.ones(1),
            words,
        ],
    }  # fmt: skip


def text_calls():
    properties = np.zeros(0x110000, dtype=np.uint8)
    properties[ord("a") : ord("z") + 1] = 1
    characters = [properties, np.array([200], dtype=np.uint32), ["e"], "s", "t", True, False]
    analyzer = _core.TextAnalyzer(_core.Characters(*characters), "word", 1, 2, ["and"])
    names = [np.frombuffer(b"aaa bb", dtype=np.uint8), np.array([2, 6]), "word"]
    column = [(np.array([0, 5, 7], dtype=np.int32), np.frombuffer(b"aa bbcc", dtype=np.uint8))]
    return {
        "Characters": characters,
        "TextAnalyzer": [_core.Characters(*characters), "word", 1, 2, ["and"]],
        "TextColumn": [column],
        "TextCounter": [analyzer, "occurrences"],
        "TextTerms": [*names, np.ones(2, np.uint32), np.ones((2, 2), np.uint64)],
        "TextIndex": [analyzer, _core.TextTerms(*names)],
        "hash_text": [analyzer, ["aa bb", "cc"], 16, True, 2],
        "hash_features": [[{"a": 1}, {"b": "c"}], "dict", 16, True],
        "brown_clusters": [np.array([0, 1, 2, 1, 0, 2], dtype=np.int32), 2, 1],
    }


def template_calls():
    plan = [[["a=", ""], ["b"]], [(0, [(0, -1, False)]), (1, [])], [0], True]
    words = (b"ab", np.array([0, 1, 2]))
    keys = [[np.array([1], dtype=np.uint64)], [np.array([0], dtype=np.uint64)]]
    return {
        "TemplatePlan": plan,
        "TemplateIndex": [_core.TemplatePlan(*plan), [words], keys],
    }


def generative_calls():
    kinds = np.array([1, 2, 3], dtype=np.uint8)
    sizes = np.array([0, 0, 2], dtype=np.int64)
    rows = _core.Dense(np.tile([1.0, 0.5, 1.0], (N, 1)))
    weight = np.zeros((K, D))
    return {
        "survey": [csr(), 1],
        "count": [rows, kinds, sizes, 0.0, CODES, ONES, K, 1],
        "joint_likelihood": [
            rows, kinds, sizes, 0.0, np.zeros(K), weight, weight, weight, np.zeros((K, 2)), 1,
        ],
        "class_scatter": [dense(), CODES, ONES, K, True, 1],
    }  # fmt: skip


def many_calls():
    """Two labels over D features, in an index, in given candidates and in joint features."""
    counts = [
        np.arange(0, 2 * D + 1, 2), np.tile(np.arange(K, dtype=np.int32), D),
        np.ones(D * K, np.float32), np.ones(D, np.float32), *np.ones((2, K), np.float32),
    ]  # fmt: skip
    index = [
        np.arange(0, 2 * D + 1, 2), np.tile(np.arange(K, dtype=np.uint16), D),
        np.ones(D * K, np.uint8), np.full(D, -1, np.int32), np.ones((0, K), np.uint8),
        *np.ones((2, K), np.int16),
    ]  # fmt: skip
    examples = [
        *np.stack([np.arange(K + 1), D * np.arange(K + 1)]), np.full(K, D, np.uint8),
        np.tile(np.arange(D, dtype=np.uint16), K), np.ones(D, np.uint8),
    ]  # fmt: skip
    positive = _core.Csr(
        np.arange(0, N * D + 1, D, dtype=np.int32), np.tile(np.arange(D, dtype=np.int32), N),
        np.ones(N * D, np.float32), D,
    )  # fmt: skip
    labels, order = CODES.astype(np.uint32), np.arange(N, dtype=np.uint32)
    phi = _core.Csr(
        np.array([0, 1, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32),
        np.ones(2, np.float32), 2,
    )  # fmt: skip
    twos = [np.zeros((n, 2), np.float32) for n in (2, K, 16)]
    none = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return {
        "LabelCounts": counts,
        "LabelExamples": examples,
        "LabelIndex": index,
        "joint_learn": [
            positive, labels, phi, *none, K, order, "softmax", 0.1, 0.1, 2, 0, True, twos[2], 0,
        ],
        "count_labels": [positive, labels, np.argsort(CODES, kind="stable").astype(np.uint32)],
        "label_sets_learn": [
            positive, np.arange(N + 1), CODES.astype(np.int32), K, order[None], 1.0, 0.1, 1,
        ],
        "label_sets_best": [
            positive, np.ones((D, K), np.int8), np.ones(D, np.float32),
            np.zeros(K, np.float32), K, 1,
        ],
        "joint_rank": [positive, phi, np.zeros(16, np.float32), True, K, 1],
    }  # fmt: skip


def test_methods_of_an_index_refuse_what_does_not_fit():
    calls = many_calls()
    counts = _core.LabelCounts(*calls["LabelCounts"])
    index = _core.LabelIndex(*calls["LabelIndex"])
    examples, places = _core.LabelExamples(*calls["LabelExamples"]), np.zeros(N, np.uint32)
    x, labels, order = calls["joint_learn"][0], calls["joint_learn"][1], calls["joint_learn"][6]
    rates, factors, biases, pairs = (0.1,) * 3, *(np.zeros((n, 2), np.float32) for n in (2, K, 16))
    counts.weights(1.0, 1)
    ranks = [counts, 1.0, 0.5, x, labels, 1]
    learn = [
        counts, 1.0, 0.5, examples, places, x, labels, order, K, rates, factors, biases, pairs, 1,
    ]  # fmt: skip
    rank = [examples, x, (1.0, 1.0), biases[:, 0].copy(), np.zeros(16, np.int8), 1.0, K, K, 1]
    junk = [np.zeros(1, np.float32), np.zeros((3, 2), np.float32), csr(), csr(np.float32), -1.0, 99]
    for method, arguments in ((index.ranks, ranks), (index.learn, learn), (index.rank, rank)):
        method(*arguments)
        for place in range(len(arguments)):
            for other in junk:
                changed = [*arguments[:place], other, *arguments[place + 1 :]]
                with contextlib.suppress(*ALLOWED):
                    method(*changed)
    with pytest.raises(ValueError, match="y has length"):
        index.ranks(counts, 1.0, 0.5, x, labels[:2], 1)


CALLS = {
    **valid_calls(),
    **graph_calls(),
    **online_calls(),
    **proximal_calls(),
    **format_calls(),
    **text_calls(),
    **template_calls(),
    **generative_calls(),
    **many_calls(),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_valid_call_is_valid(name):
    made = getattr(_core, name)(*CALLS[name])
    if inspect.isclass(getattr(_core, name)):
        methods_of(made)


def test_a_matrix_in_fortran_order_is_refused():
    weights = np.asfortranarray(np.arange(D * K, dtype=float).reshape(D, K))
    for design in (csr(), dense()):
        with pytest.raises(ValueError, match="C-contiguous"):
            _core.scores(design, weights, 1)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", sorted(name for name in CALLS if CALLS[name]))
def test_malformed_arguments_give_typed_errors(name, pytestconfig):
    function = getattr(_core, name)
    for number in range(2000 if pytestconfig.getoption("--runslow") else 150):
        random = Random(f"{name} {number}")
        arguments = list(CALLS[name])
        for _ in range(random.randint(1, 2)):
            place = random.randrange(len(arguments))
            arguments[place] = junk(random, arguments[place])
        try:
            made = function(*arguments)
            if inspect.isclass(function):
                methods_of(made)
        except ALLOWED:
            pass
        except BaseException as error:
            error.add_note(f"{name}{tuple(arguments)!r}")
            raise
