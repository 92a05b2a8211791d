"""Saving a fitted model to one file, and loading it without running anything from the file."""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ModelFileError, NotSavableError, ParameterError
from separatrix.models.file.container import VERSION, Container, parse_json, read, write
from separatrix.models.file.decode import Decoder
from separatrix.models.file.encode import Encoder
from separatrix.models.file.table import name_of

if TYPE_CHECKING:
    from separatrix.tasks.inputs import Inputs

__all__ = ["VERIFY_BELOW", "ModelInfo", "describe", "load", "load_described", "save", "verify"]

Verify = bool | Literal["auto"]

#: Files of fewer bytes are verified unless `verify=False` (about 0.1 s at most).
VERIFY_BELOW = 64 << 20
#: More classes than this are counted in the summary, but not listed.
_LISTED = 1000


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about itself.

    Attributes
    ----------
    class_name : str
        Class of the model.
    format_version : int
        Version of the file format.
    library_version : str
        The separatrix that wrote the file.
    n_bytes : int
        Size of the file.
    checksum : str
        SHA-256 of the contents, as the file states it.
    summary : dict
        What is known of the training: n_rows, n_features, classes, objective, gap, passes, ….
    fingerprint : str or None
        Fingerprint of the training data, if it was given to `save`.
    task : str or None
        Kind of its output, a key of `separatrix.tasks.TASKS`; None for what predicts nothing.
    input : dict
        What it is fed, as `Inputs.to_dict` tells it.
    arrays : dict of str to (str, tuple of int)
        Type and shape of every array in the file.
    """

    class_name: str
    format_version: int
    library_version: str
    n_bytes: int
    checksum: str
    summary: dict[str, Any]
    fingerprint: str | None
    task: str | None
    input: dict[str, Any]
    arrays: dict[str, tuple[str, tuple[int, ...]]]


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    training: Mapping[str, Any] | None = None,
    fingerprint: str | None = None,
    task: str | None = None,
    inputs: Inputs | None = None,
) -> None:
    """Save a fitted model as one safetensors file, whole or not at all.

    The file holds arrays and JSON: the parameters, what was learned, and a checksum of it all. An
    existing file is replaced only when the new one is complete on the disk. Dual variables of the
    training rows are left out.

    Parameters
    ----------
    model : estimator
        A fitted learner or transformer of separatrix, or a scikit-learn `Pipeline`, `FeatureUnion`
        or `ColumnTransformer` of them.
    path : str or path
        Where to; "model.sx" by custom.
    training : mapping of str to plain values, lists and mappings of them, optional
        Facts for the training summary, such as ``{"n_rows": 1000}``; objective, gap and passes are
        found in the model.
    fingerprint : str, optional
        Fingerprint of the training data.
    task : str, optional
        Kind of its output, a key of `separatrix.tasks.TASKS`; by default as the model tells it.
    inputs : Inputs, optional
        What it is fed of a data set; by default what its first step takes.

    Raises
    ------
    NotSavableError
        The model holds something that the file cannot; the message names the attribute.
    NotFittedError
        The model has not been fitted.
    OSError
        The file cannot be written (no space, no permission); `path` is as it was before.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/iris.sx", training={"n_rows": len(X)})
    ...     again = load(f"{folder}/iris.sx")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    name = name_of(type(model))
    if name is None or not hasattr(model, "get_params"):
        raise NotSavableError(
            f"{type(model).__qualname__} is no estimator that a model file can hold; files hold "
            "the estimators of separatrix, and scikit-learn's pipelines of them"
        )
    check_is_fitted(model)
    from separatrix.tasks import kind_of
    from separatrix.tasks.inputs import Inputs

    kind = kind_of(model) if task is None else task
    taken = Inputs.of_model(model) if inputs is None else inputs
    encoder = Encoder()
    tree = encoder.encode(model, "model")
    arrays = encoder.finish()
    metadata = {
        "library_version": _library_version(),
        "class": name,
        "model": json.dumps(tree, separators=(",", ":"), allow_nan=False),
        "summary": _dump_summary(_summary(model) | dict(training or {})),
        "input": json.dumps(taken.to_dict(), separators=(",", ":")),
    }
    if kind is not None:
        metadata["task"] = kind
    if fingerprint is not None:
        if not isinstance(fingerprint, str):
            raise ParameterError(f"fingerprint must be a string, got {fingerprint!r}")
        metadata["fingerprint"] = fingerprint
    write(path, metadata, arrays)


def load(path: str | os.PathLike[str], verify: Verify = "auto", *, mmap: bool = False) -> Any:
    """Load a model that `save` wrote; no code from the file is run.

    The file is copied into memory, so that whatever happens to it later does not touch the model.
    Arrays are read-only.

    Parameters
    ----------
    path : str or path
        The file.
    verify : bool or "auto", default="auto"
        Whether to compare the checksum with all bytes of the file; "auto" does so below 64 MB.
        Header, shapes, dtypes and sizes are checked in any case.
    mmap : bool, default=False
        Map a file of 256 MB or more instead of copying it: it opens at once, is read where it is
        used, and processes share it. The file must then not be changed in place while the model is
        in use (`save` never does): cut short under the model it ends the process (SIGBUS).

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        The file is damaged, of an unknown version, no model file, or was changed while it was read;
        the message says which.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import MajorityClass, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(MajorityClass().fit([[0], [1], [2]], ["a", "b", "b"]), f"{folder}/model.sx")
    ...     load(f"{folder}/model.sx").predict([[7]])
    array(['b'], dtype='<U1')
    """
    return load_described(path, verify, mmap=mmap)[0]


def load_described(
    path: str | os.PathLike[str], verify: Verify = "auto", *, mmap: bool = False
) -> tuple[Any, ModelInfo]:
    """The model of a file and what the file says about itself, parsed once; as `load`."""
    if not (isinstance(verify, bool) or verify == "auto"):
        raise ParameterError(f"verify must be True, False or 'auto', got {verify!r}")
    with _naming(path):
        container = read(path, mmap)
        if verify is True or (verify == "auto" and container.n_bytes < VERIFY_BELOW):
            container.verify()
        info = _info(container)
        tree = parse_json(container.metadata.get("model", ""), "the model")
        if not isinstance(tree, dict) or tree.get("$") != "estimator":
            raise ModelFileError("the file holds no estimator")
        if tree.get("class") != info.class_name:
            raise ModelFileError("the class of the model is not the one that the header names")
        model = Decoder(container.arrays).decode(tree)
        container.check_unchanged(path)
        return model, info


def describe(path: str | os.PathLike[str]) -> ModelInfo:
    """What a model file says about itself, from its header alone.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    ModelInfo
        Class, versions, training summary.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import MajorityClass, save
    >>> from separatrix.models import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(MajorityClass().fit([[0], [1], [2]], ["a", "b", "b"]), f"{folder}/model.sx")
    ...     info = describe(f"{folder}/model.sx")
    >>> info.class_name, info.format_version, info.summary["classes"]
    ('MajorityClass', 1, ['a', 'b'])
    """
    with _naming(path):
        return _info(read(path, mmap=True))


def verify(path: str | os.PathLike[str]) -> None:
    """Read all of a model file and compare its checksum, whatever its size.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    ModelFileError
        The file is damaged, or no model file.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import MajorityClass, save
    >>> from separatrix.models import verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(MajorityClass().fit([[0], [1], [2]], ["a", "b", "b"]), f"{folder}/model.sx")
    ...     verify(f"{folder}/model.sx")
    """
    with _naming(path):
        read(path, mmap=True).verify()


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Puts the file's name before the message of a ModelFileError."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def _info(container: Container) -> ModelInfo:
    metadata = container.metadata
    summary = parse_json(metadata.get("summary", ""), "the training summary")
    if not isinstance(summary, dict):
        raise ModelFileError("the training summary is no JSON object")
    taken = parse_json(metadata.get("input", "{}"), "the input")
    if not isinstance(taken, dict):
        raise ModelFileError("the input is no JSON object")
    return ModelInfo(
        metadata.get("class", ""),
        VERSION,
        metadata.get("library_version", "unknown"),
        container.n_bytes,
        container.digest,
        summary,
        metadata.get("fingerprint"),
        metadata.get("task"),
        taken,
        {name: (str(part.dtype), part.shape) for name, part in container.arrays.items()},
    )


def _summary(model: Any) -> dict[str, Any]:
    """What the model itself tells of its training; of its last step, for a pipeline."""
    summary: dict[str, Any] = {}
    n_features = getattr(model, "n_features_in_", None)
    if n_features is not None:
        summary["n_features"] = int(n_features)
    last = model
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    classes = getattr(last, "classes_", None)
    if classes is not None:
        summary["n_classes"] = len(classes)
        if len(classes) <= _LISTED:
            labels = np.asarray(classes).tolist()
            plain = all(isinstance(label, bool | int | float | str) for label in labels)
            summary["classes"] = labels if plain else [str(label) for label in labels]
    solution = getattr(last, "solution_", None)
    if solution is not None:
        summary |= {
            "objective": float(solution.objective),
            "gap": float(solution.gap),
            "passes": float(solution.n_passes),
            "stopped": solution.stopped.value,
            "certificate": solution.certificate,
            "solver": solution.solver,
        }
    return summary


def _dump_summary(summary: dict[str, Any]) -> str:
    try:
        return json.dumps(_finite(summary), separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NotSavableError(f"training holds a value that is not plain JSON: {error}") from None


def _finite(value: Any) -> Any:
    """NaN and infinity are not JSON; what is not known is null."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _library_version() -> str:
    try:
        return importlib.metadata.version("separatrix")
    except importlib.metadata.PackageNotFoundError:  # run from the source tree
        return "unknown"
