"""What is loaded is what was saved: every estimator, every kind of value, to the bit."""

from __future__ import annotations

import dataclasses
import mmap

import numpy as np
import pytest
import safetensors
import scipy.sparse as sp
from sklearn.base import clone

import separatrix
from separatrix import LinearClassifier, LogisticRegression, MajorityClass, load, save
from separatrix.errors import ModelFileError, NotFittedError, NotSavableError, ParameterError
from separatrix.features.templates.model import TemplateModel
from separatrix.features.text.model import TextModel
from separatrix.features.text.vocabulary import TermCounts, Vocabulary
from separatrix.losses import Hinge
from separatrix.models import describe
from separatrix.models.file.decode import Decoder
from separatrix.models.file.encode import Encoder
from separatrix.models.file.table import CLASSES, class_named, state_of
from separatrix.structures import ChainFeatures
from tests.unit.models.models import CASES, TWO, X, Y

#: What the generative classifiers make of their counts when it is first asked for.
MADE_AGAIN = {"handle", "_made", "_laid_out", "_solved"}

#: Exported names with `fit` that no model file holds, and why.
EXEMPT: dict[str, str] = {}


def same(a, b):
    """Equal values of equal types, arrays to the bit."""
    if sp.issparse(a):
        assert type(a) is type(b)
        assert a.shape == b.shape
        for part in ("data", "indices", "indptr"):
            same(getattr(a, part), getattr(b, part))
    elif hasattr(a, "to_numpy"):
        assert type(a) is type(b)
        assert a.equals(b)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_array_equal(a, b)
        if a.dtype.kind == "f":
            assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        same(list(a), list(b))
        same(list(a.values()), list(b.values()))
    elif isinstance(a, list | tuple):
        assert type(a) is type(b)
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    elif isinstance(a, ChainFeatures | TemplateModel | TextModel | Vocabulary | TermCounts):
        same(a.__getstate__(), b.__getstate__())
    elif (dataclasses.is_dataclass(a) and not isinstance(a, type)) or hasattr(a, "get_params"):
        assert type(a) is type(b)
        # Solutions are compared where they are the model's own.
        names = [name for name in vars(a) if name not in MADE_AGAIN | {"solution_"}]
        same([vars(a)[name] for name in names], [vars(b)[name] for name in names])
    elif isinstance(a, np.random.RandomState):
        same(a.get_state(), b.get_state())
    else:
        assert type(a) is type(b)
        assert a == b or (a != a and b != b)


def through(value):
    """A value through nodes and arrays."""
    encoder = Encoder()
    node = encoder.encode(value, "model")
    return Decoder(encoder.finish()).decode(node)


@pytest.fixture(params=CASES, scope="module")
def saved(request, tmp_path_factory):
    case = CASES[request.param]
    model = case.fit()
    path = tmp_path_factory.mktemp("models") / "model.sx"
    save(model, path)
    return case, model, path


@pytest.mark.parametrize("verify", ["auto", True, False])
def test_answers_are_the_same_to_the_bit(saved, verify):
    case, model, path = saved
    same(case.ask(model), case.ask(load(path, verify)))


def test_everything_fitted_is_there(saved):
    _, model, path = saved
    again = load(path)
    solution = vars(model).get("solution_")
    if solution is not None:  # the dual belongs to the training rows
        same(solution._replace(dual=None, trace=None), again.solution_._replace(trace=None))
        same(solution.trace.objective, again.solution_.trace.objective)
    left = set(vars(model)) - MADE_AGAIN
    for name in left:
        if name not in ("solution_", "steps", "transformers", "transformers_", "_remainder"):
            same(getattr(model, name), getattr(again, name))
    # Nothing that fit left behind is undeclared.
    assert left <= {*model.get_params(deep=False), *state_of(type(model))}


def test_a_loaded_model_saves_to_the_same_bytes_and_can_be_cloned(saved, tmp_path):
    _, _, path = saved
    again = load(path)
    save(again, tmp_path / "again.sx")
    assert (tmp_path / "again.sx").read_bytes() == path.read_bytes()
    assert type(clone(again)) is type(again)


def test_other_programs_read_the_arrays(saved):
    _, _, path = saved
    with safetensors.safe_open(path, framework="np") as file:
        assert file.metadata()["format"] == "separatrix"
        for name in file.keys():  # noqa: SIM118 - not a dict
            file.get_tensor(name)


def test_every_exported_estimator_can_be_saved_and_is_tried():
    exported = {
        name
        for name in separatrix.__all__
        if isinstance(getattr(separatrix, name), type) and hasattr(getattr(separatrix, name), "fit")
    }
    assert exported - set(EXEMPT) <= set(CLASSES)
    assert set(EXEMPT) <= exported
    tried = {type(case.fit()).__name__ for case in CASES.values()}
    own = {name for name, target in CLASSES.items() if target.startswith("separatrix.")}
    estimators = {name for name in own if hasattr(class_named(name), "get_params")}
    assert estimators <= tried


@pytest.mark.parametrize("name", CLASSES)
def test_every_line_of_the_table_is_a_class(name):
    cls = class_named(name)
    assert cls.__name__ == name
    if hasattr(cls, "get_params") and cls.__module__.startswith("separatrix."):
        names = [base.__dict__.get("__sx_state__", ()) for base in cls.__mro__]
        assert any(names) or name in ("Hasher", "MessageText")  # which learn nothing


@pytest.mark.parametrize(
    "name", [name for name, target in CLASSES.items() if ".losses" in target or "ers:" in target]
)
def test_value_objects(name):
    cls = class_named(name)
    needed = {"GeneratedLoss": (None, "a"), "TextEncoder": (None,), "CostMatrix": (np.eye(2), 0.5)}
    value = cls(*needed.get(name, ()))
    same(value, through(value))


VALUES = [
    None,
    True,
    -3,
    2**200,
    1.5,
    -0.0,
    float("nan"),
    float("-inf"),
    "",
    "a\ud800b",
    [1, [2.0, ("x", None)]],
    list(range(100)),
    [2**70, *range(50)],
    [0.1 * k for k in range(100)],
    [k % 3 == 0 for k in range(100)],
    [f"wörd{k}" for k in range(100)],
    ["\ud800"] * 20,
    [True, 1, 1.0] * 20,
    {"a": 1, 2: "b", (1, "x"): None, 2.5: []},
    {f"k{k}": k for k in range(100)},
    {1, 2},
    frozenset("ab"),
    slice(1, None, 2),
    np.float32(1.5),
    np.int8(-3),
    np.bool_(True),
    np.str_("x"),
    np.datetime64("2020-02-03", "D"),
    np.float64("nan"),
    np.float64,
    np.dtype("float32"),
    np.random.RandomState(7),
    np.arange(6.0).reshape(2, 3),
    np.arange(6.0).reshape(2, 3).T,
    np.arange(24)[::2],
    np.arange(24.0).reshape(2, 3, 4)[:, ::-1],
    np.array(3.5),
    np.zeros((0, 4), np.float32),
    np.array([True, False]),
    np.array([1, 2], dtype=np.uint16),
    np.array(["2020-01-01", "NaT"], dtype="datetime64[us]"),
    np.array(["b", "longer"]),
    np.array([["a", "b"]], dtype="<U7"),
    np.array([], dtype="<U3"),
    np.array(["a", "b"], dtype=object),
    np.array([f"w{k}" for k in range(100)], dtype=object),
    np.array(["a", 1, None, 2.5], dtype=object),
    sp.csr_matrix(np.eye(3)),
    sp.csr_array(np.eye(3, dtype=np.float32)),
    sp.csr_array((2, 5)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values(value):
    same(value, through(value))


def test_big_endian_numbers_keep_their_values():
    same(np.arange(3.0), through(np.arange(3.0).astype(">f8")))


def test_memory_that_arrays_share_is_written_once():
    whole = np.arange(1000.0).reshape(100, 10)
    encoder = Encoder()
    node = encoder.encode([whole[:-1].T, whole, whole[-40:], whole.copy()], "model")
    arrays = encoder.finish()
    assert len(arrays) == 2
    same([whole[:-1].T, whole, whole[-40:], whole], Decoder(arrays).decode(node))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1]),
        np.array([-1.0, 2.0]),
        np.array([False, True]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([2, 200], dtype=np.uint8),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_type(labels, tmp_path):
    model = LogisticRegression().fit(X, labels[TWO])
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    same(model.classes_, again.classes_)
    same(model.predict(X), again.predict(X))
    assert describe(tmp_path / "model.sx").summary["classes"] == sorted(labels.tolist())


@pytest.mark.parametrize("mapped", [False, True], ids=["copied", "mapped"])
def test_arrays_cannot_be_written(tmp_path, mapped, monkeypatch):
    monkeypatch.setattr("separatrix.models.file.container.MAPPED_FROM", 1)
    save(LogisticRegression().fit(X, Y), tmp_path / "model.sx")
    model = load(tmp_path / "model.sx", verify=False, mmap=mapped)
    base = model.coef_
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1.0
    assert model.coef_.ctypes.data % 8 == 0
    # Fitting again makes new arrays; a warm start goes on from the read ones.
    model.set_params(warm_start=True).fit(X, Y)
    assert model.n_iter_ <= LogisticRegression().fit(X, Y).n_iter_


def test_a_loaded_online_learner_goes_on(tmp_path):
    model = CASES["mira_partly_fitted"].fit()
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    same(model.partial_fit(X, Y).coef_, again.partial_fit(X, Y).coef_)


def test_the_header_tells_of_the_training(tmp_path):
    model = CASES["pipeline_of_columns"].fit()
    save(model, tmp_path / "model.sx", training={"n_rows": 90}, fingerprint="abc")
    info = describe(tmp_path / "model.sx")
    assert (info.class_name, info.format_version, info.fingerprint) == ("Pipeline", 1, "abc")
    assert info.n_bytes == (tmp_path / "model.sx").stat().st_size
    solution = model[-1].solution_
    assert info.summary["n_rows"] == 90
    assert info.summary["n_features"] == 4
    assert info.summary["classes"] == ["cat", "dog", "wolf"]
    assert info.summary["objective"] == solution.objective
    assert info.summary["passes"] == solution.n_passes
    assert info.summary["stopped"] == "converged"


class OwnLoss(Hinge):
    """A class that is not in the table."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearClassifier(OwnLoss(), solver="sgd", tol=1, max_iter=2), "model.loss is of type"),
        (LogisticRegression(class_weight={0: 1 + 0j, 1: 1.0}), r"model.class_weight\[0\]"),
        (LogisticRegression(C=np.longdouble(1)), "model.C has dtype"),
    ],
)
def test_what_cannot_be_saved_is_named(model, message, tmp_path):
    fitted = LogisticRegression().fit(X, TWO)
    for name in ("coef_", "intercept_", "classes_"):
        setattr(model, name, getattr(fitted, name))
    with pytest.raises(NotSavableError, match=message):
        save(model, tmp_path / "model.sx")
    assert list(tmp_path.iterdir()) == []


def test_wrong_use_is_told(tmp_path):
    with pytest.raises(NotFittedError):
        save(LogisticRegression(), tmp_path / "model.sx")
    with pytest.raises(NotSavableError, match="is no estimator"):
        save({"a": 1}, tmp_path / "model.sx")
    with pytest.raises(NotSavableError, match="is no estimator"):
        save(Hinge(), tmp_path / "model.sx")
    model = MajorityClass().fit(X, Y)
    with pytest.raises(NotSavableError, match="training"):
        save(model, tmp_path / "model.sx", training={"x": object()})
    with pytest.raises(ParameterError, match="fingerprint"):
        save(model, tmp_path / "model.sx", fingerprint=3)
    with pytest.raises(ParameterError, match="verify"):
        load(tmp_path / "model.sx", verify="yes")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.sx")
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "no" / "model.sx")
    with pytest.raises(IsADirectoryError):
        save(model, tmp_path)
    holds_itself: list = []
    holds_itself.append(holds_itself)
    model.class_prior_ = holds_itself
    with pytest.raises(NotSavableError, match="nested too deeply"):
        save(model, tmp_path / "model.sx")
    node = 1
    for _ in range(60):
        node = {"$": "list", "items": [node]}
    with pytest.raises(ModelFileError, match="nested too deeply"):
        Decoder({}).decode(node)
