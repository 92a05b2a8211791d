"""`separatrix inspect`: what a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.exits import BAD_DATA
from separatrix.cli.options import Debug, Json, ModelFile

if TYPE_CHECKING:
    from separatrix.models import ModelInfo

__all__ = ["inspect"]

#: Arrays, and classes, that are listed.
_ARRAYS, _CLASSES = 8, 20
#: Facts of the training summary that have a line of their own.
_TOLD = ("classes", "n_classes", "command")


def inspect(
    model: ModelFile,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Weights to show per class, of each sign.")
    ] = 5,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model file holds, and whether it is sound.

    Compares the checksum with the whole file; exit code 1 tells that it does not fit.
    """
    import sys

    from separatrix.cli.messages import waiting
    from separatrix.cli.tables import print_json
    from separatrix.errors import ModelFileError
    from separatrix.models import describe, load, verify

    info = describe(model)
    try:
        with waiting("Checking"):
            verify(model)
    except ModelFileError as error:
        sound = str(error).removeprefix(f"{model}: ")
    else:
        sound = ""
    record = _header(str(model), info, sound)
    if not sound:
        estimator = load(model, verify=False)
        record["steps"] = [_step(part) for part in _parts(estimator)]
        record["weights"] = _weights(estimator, info, top) if top else []
    if json:
        print_json(record)
    else:
        sys.stdout.write("\n".join(_lines(record)) + "\n")
    if sound:
        raise typer.Exit(BAD_DATA)


def _header(path: str, info: ModelInfo, sound: str) -> dict[str, Any]:
    return {
        "file": path,
        "class": info.class_name,
        "n_bytes": info.n_bytes,
        "format_version": info.format_version,
        "library_version": info.library_version,
        "checksum": info.checksum,
        "checksum_ok": not sound,
        "damage": sound or None,
        "fingerprint": info.fingerprint,
        "task": info.task,
        "input": info.input,
        "training": info.summary,
        "arrays": [
            {"name": name, "dtype": dtype, "shape": list(shape)}
            for name, (dtype, shape) in info.arrays.items()
        ],
    }


def _parts(estimator: Any) -> list[Any]:
    """The estimators of a model from the outside in, and along its pipelines."""
    found = [] if hasattr(estimator, "steps") else [estimator]
    for _, step in getattr(estimator, "steps", ()):
        found += [] if step in (None, "passthrough") else _parts(step)
    if hasattr(estimator, "estimator_"):
        found += _parts(estimator.estimator_)
    return found


def _step(estimator: Any) -> dict[str, Any]:
    """A step and those of its parameters that are not the default."""
    from inspect import signature

    defaults = {
        name: parameter.default for name, parameter in signature(type(estimator)).parameters.items()
    }
    changed = {
        name: value if isinstance(value, int | float | str | bool | None) else repr(value)
        for name, value in estimator.get_params(deep=False).items()
        if not hasattr(value, "get_params") and repr(value) != repr(defaults.get(name))
    }
    return {"class": type(estimator).__name__, "parameters": changed}


def _weights(estimator: Any, info: ModelInfo, top: int) -> list[dict[str, Any]]:
    from separatrix.errors import ParameterError
    from separatrix.explanation import top_weights

    columns = info.input.get("columns") if info.input.get("kind") == "matrix" else None
    try:
        found = top_weights(estimator, top, names=columns or None)
    except ParameterError:  # a model without weights has none to show
        return []
    return [
        {
            "label": part.label,
            "against": part.rest,
            "kind": part.kind,
            "features": dict(zip(part.names, part.values.tolist(), strict=True)),
        }
        for part in found
    ]


def _lines(record: dict[str, Any]) -> list[str]:
    training = record["training"]
    lines = [
        f"{record['file']}: {record['class']}, {_size(record['n_bytes'])}, format "
        f"{record['format_version']}, written by separatrix {record['library_version']}",
        f"checksum {'ok' if record['checksum_ok'] else 'WRONG: ' + record['damage']} "
        f"(sha256 {record['checksum'][:16]}…)",
    ]
    if record["fingerprint"]:
        lines.append(f"training data: fingerprint {record['fingerprint'][:16]}…")
    lines += _training(training, record["input"])
    for number, step in enumerate(record.get("steps", ()), start=1):
        chosen = ", ".join(f"{name}={value!r}" for name, value in step["parameters"].items())
        lines.append(f"step {number}: {step['class']}({chosen})")
    lines += ["", "largest arrays", *_arrays(record["arrays"])]
    for part in record.get("weights", ()):
        lines += ["", *_weight_lines(part)]
    return lines


def _training(training: dict[str, Any], taken: dict[str, Any]) -> list[str]:
    lines = []
    if "classes" in training:
        labels = [str(label) for label in training["classes"]]
        more = f", … ({len(labels)} in all)" if len(labels) > _CLASSES else ""
        lines.append(f"classes: {', '.join(labels[:_CLASSES])}{more}")
    elif "n_classes" in training:
        lines.append(f"classes: {training['n_classes']}")
    if taken:
        columns = ", ".join(map(str, taken.get("columns") or ()))
        target = f", target {taken['target']}" if taken.get("target") else ""
        lines.append(f"input: {taken.get('kind')}{f' ({columns})' if columns else ''}{target}")
    facts = [
        f"{name.replace('_', ' ')} {value:.6g}" if isinstance(value, float) else
        f"{name.replace('_', ' ')} {value}"
        for name, value in training.items()
        if name not in _TOLD and value is not None and not isinstance(value, dict | list)
    ]  # fmt: skip
    if facts:
        lines.append(f"training: {', '.join(facts)}")
    if training.get("command"):
        lines.append(f"command: {training['command']}")
    return lines


def _arrays(arrays: list[dict[str, Any]]) -> list[str]:
    from math import prod

    from numpy import dtype

    def n_bytes(array: dict[str, Any]) -> int:
        return int(prod(array["shape"]) * dtype(array["dtype"]).itemsize)

    largest = sorted(arrays, key=n_bytes, reverse=True)
    rows = [
        (
            " x ".join(map(str, array["shape"])) or "()",
            array["dtype"],
            _size(n_bytes(array)),
            array["name"],
        )
        for array in largest[:_ARRAYS]
    ]
    widths = [max((len(row[c]) for row in rows), default=0) for c in range(3)]
    lines = [
        f"  {shape:>{widths[0]}}  {kind:<{widths[1]}}  {size:>{widths[2]}}  {name}"
        for shape, kind, size, name in rows
    ]
    left = len(arrays) - len(rows)
    return lines + ([f"  and {left} more"] if left > 0 else [])


def _weight_lines(part: dict[str, Any]) -> list[str]:
    if part["label"] is None:
        lines = [f"{part['kind']}s"]
    else:
        lines = [f"{part['kind']}s for {part['label']} against {part['against']}"]
        lines[0] = lines[0].replace("log oddss", "log odds")
    width = max((len(name) for name in part["features"]), default=0)
    lines += [f"  {name:<{width}}  {value:+.4g}" for name, value in part["features"].items()]
    return lines if len(lines) > 1 else [*lines, "  (all zero)"]


def _size(n_bytes: int) -> str:
    power = min(max((len(str(n_bytes)) - 1) // 3, 0), 3)
    return f"{n_bytes / 1000**power:.{min(power, 1)}f} {('B', 'kB', 'MB', 'GB')[power]}"
