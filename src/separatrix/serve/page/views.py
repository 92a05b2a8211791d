"""Routes of the page: one per kind of input, rendered here, brought to life by a small script."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response

from separatrix.errors import MissingPackageError
from separatrix.models import Model
from separatrix.serve.problems import Problem
from separatrix.serve.settings import Settings
from separatrix.serve.store import ModelStore

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["add_page", "render"]

_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
#: Deviations from the mean that a slider reaches.
_REACH = 3.0


def add_page(app: FastAPI, store: ModelStore, settings: Settings) -> None:
    """Add the page and its files to an application."""
    static = _static()
    _environment()

    @app.get("/", include_in_schema=False)
    async def show_page(model: str | None = None) -> Response:
        first = next(iter(store.models))
        served = store.get(first if model is None else model)
        return HTMLResponse(render(served, list(store.models)))

    @app.get("/static/{name}", include_in_schema=False)
    async def show_file(name: str) -> Response:
        if name not in static:
            raise Problem("not_found", "there is no such file")
        kind = _KINDS[name[name.rindex(".") :]]
        return Response(static[name], headers={"content-type": kind})


def render(model: Model, names: list[str]) -> str:
    """The page of a model, among the models of these names."""
    kind, features = model.reader.page, model.features()
    wanted = model.task.wanted_by_page(model)
    if "explain" not in model.offers:
        wanted = {name: one for name, one in wanted.items() if name not in ("explain", "terms")}
    if kind == "pad" and "terms" in wanted:
        wanted["terms"] = 1000  # every pixel
    content = {
        "name": model.name,
        "page": kind,
        "classes": model.labels,
        "probabilities": "probabilities" in model.offers,
        "explains": "explain" in model.offers,
        "wanted": wanted,
        "features": features,
        "fields": _fields(features) if kind == "table" else [],
        "as_array": model.reader.kind == "matrix",
        "side": math.isqrt(features["n_features"]) if kind == "pad" else None,
    }
    template = _environment().get_template("page.html")
    return template.render(
        model=model,
        names=names,
        kind=kind,
        facts=_facts(model),
        content=content,
        # As Python would write them.
        example="[…]" if kind in ("pad", "numbers", "pictures") else repr(model.reader.example()),
        name=repr(model.name),
    )


def _facts(model: Model) -> list[tuple[str, str]]:
    """Name and value of what the head of the page tells."""
    summary = model.info.summary
    facts = [("predicts", model.task.predicts), ("learner", model.learner_name)]
    if model.labels is not None:
        facts.append(("classes", str(len(model.labels))))
    if isinstance(summary.get("test"), float):
        facts.append((f"{summary.get('metric') or 'score'} on test", f"{summary['test']:.4g}"))
    if isinstance(summary.get("n_rows"), int):
        facts.append(("training rows", f"{summary['n_rows']:,}".replace(",", " ")))
    return facts


def _fields(features: dict[str, Any]) -> list[dict[str, Any]]:
    """What a form asks for: a field per column."""
    if "columns" not in features:
        n = features["n_features"]
        columns: list[dict[str, Any]] = [{"name": f"x{j}", "kind": "number"} for j in range(n)]
    else:
        columns = features["columns"]
    return [_field(column, number) for number, column in enumerate(columns)]


def _field(column: dict[str, Any], number: int) -> dict[str, Any]:
    field = {**column, "id": f"field-{number}", "values": column.get("values", [])}
    if column["kind"] == "number":
        mean, deviation = column.get("mean", 0.0), column.get("deviation", 1.0)
        step = 10.0 ** math.floor(math.log10(deviation / 20)) if deviation > 0 else 0.1
        low, high = (mean + sign * _REACH * deviation for sign in (-1, 1))
        field |= {
            "low": round(low / step) * step,
            "high": round(high / step) * step,
            "start": round(mean / step) * step,
            "step": step,
        }
        digits = max(0, -math.floor(math.log10(step)))
        for name in ("low", "high", "start", "step"):
            field[name] = round(field[name], digits)
    return field


@cache
def _static() -> dict[str, bytes]:
    """The files of the page by name."""
    folder = files("separatrix.serve.page") / "static"
    found = [file for file in folder.iterdir() if file.name.endswith(tuple(_KINDS))]
    return {file.name: file.read_bytes() for file in found}


@cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError as error:
        raise MissingPackageError(
            "the page needs jinja2; install it with: pip install 'separatrix[serve]'"
        ) from error
    return jinja2.Environment(
        loader=jinja2.PackageLoader("separatrix.serve.page", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
