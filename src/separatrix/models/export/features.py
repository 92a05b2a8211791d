"""What stands before a learner as ONNX operators: scalers, tables, texts, functions of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from separatrix.features import Polynomial, RadialBasis, TableEncoder, TextVectorizer
from separatrix.features.tables.bins import BinEncoder, BothEncoder
from separatrix.features.tables.columns_to_numbers import (
    BooleanEncoder,
    CategoryEncoder,
    NumericEncoder,
    RobustEncoder,
    SplineEncoder,
    TextEncoder,
)
from separatrix.models.export.graph import TOKENIZER, Graph, refused
from separatrix.validation import is_sparse

__all__ = ["add_steps"]

#: Stands in rows with fewer words or characters than others: it is in no vocabulary.
_PAD = "\x01"
#: Lowers letters of all languages, and is there without a language pack.
_LOCALE = "C.UTF-8"
#: What Python's \w is, in RE2: letters, numbers and the underscore, two at least.
_WORD = r"[\p{L}\p{N}_][\p{L}\p{N}_]+"
#: What stands between white space of any kind, as `str.split` knows it.
_CHUNK = r"[^\s\p{Z}\x0b\x1c-\x1f\x{85}]+"
#: Above this arsinh(x) is ln 2x to the last digit, and x^2 might be infinite.
_FAR = 1e8


def add_steps(graph: Graph, steps: list[Any], n_features: int | None) -> str:
    """The inputs of the graph, and the features that the steps make of them."""
    if steps and _reads_text(steps[0]):
        return _add_rest(graph, steps, graph.input("X", text=True))
    if steps and type(steps[0]) is TableEncoder:
        return _add_rest(graph, steps[1:], _add_table(graph, steps[0]))
    if steps:
        n_features = getattr(steps[0], "n_features_in_", n_features)
    return _add_rest(graph, steps, graph.input("X", n_features))


def _reads_text(step: Any) -> bool:
    if isinstance(step, FeatureUnion):
        return any(_reads_text(part) for _, part in step.transformer_list)
    if isinstance(step, Pipeline):
        return _reads_text(step.steps[0][1])
    return getattr(step, "__sx_input__", None) == "text"


def _add_rest(graph: Graph, steps: list[Any], X: str) -> str:
    for step in steps:
        X = _add_step(graph, step, X)
    return X


def _add_step(graph: Graph, step: Any, X: str) -> str:
    """One step that takes a matrix, or texts."""
    kind = type(step)
    if kind is FeatureUnion:
        if step.transformer_weights:
            raise refused("FeatureUnion", "its parts are weighted")
        return graph.joined([_add_step(graph, part, X) for _, part in step.transformer_list])
    if kind is TextVectorizer:
        return _add_texts(graph, step, X)
    if kind is MaxAbsScaler:
        return graph.add("Mul", X, graph.constant(1 / step.scale_))
    if kind is StandardScaler:
        mean = step.mean_ if step.with_mean else None
        X = X if mean is None else graph.add("Sub", X, graph.constant(mean))
        return X if step.scale_ is None else graph.add("Mul", X, graph.constant(1 / step.scale_))
    if kind is MinMaxScaler:
        moved = graph.add("Mul", X, graph.constant(step.scale_))
        moved = graph.add("Add", moved, graph.constant(step.min_))
        if not step.clip:
            return moved
        low, high = (graph.constant(float(end)) for end in step.feature_range)
        return graph.add("Min", graph.add("Max", moved, low), high)
    if kind is RadialBasis and step.method != "fourier":
        return _add_radial(graph, step, X)
    if kind is Polynomial and step.n_features is None:
        return _add_products(graph, step, X)
    raise refused(
        kind.__qualname__,
        "there are operators for tables of numbers, flags, categories and texts, for "
        "TextVectorizer, scalers, RadialBasis without waves and Polynomial without hashes",
    )


def _add_radial(graph: Graph, step: RadialBasis, X: str) -> str:
    """exp(-gamma |x - c|^2), from |x|^2 - 2 x'c + |c|^2; then the map to independent columns."""
    centers = step.centers_.toarray() if is_sparse(step.centers_) else step.centers_
    products = graph.add("MatMul", X, graph.constant(-2.0 * centers.T))
    own = graph.sum(graph.add("Mul", X, X))
    away = graph.add("Add", graph.add("Add", products, own), graph.constant((centers**2).sum(1)))
    away = graph.add("Max", away, graph.constant(0.0))
    values = graph.add("Exp", graph.add("Mul", away, graph.constant(-float(step.gamma_))))
    if step.method == "nystroem":
        values = graph.add("MatMul", values, graph.constant(step.normalization_))
    return values


def _add_products(graph: Graph, step: Polynomial, X: str) -> str:
    by_degree: dict[int, list[tuple[int, ...]]] = {}
    for columns in step._products():
        by_degree.setdefault(len(columns), []).append(columns)
    if 0 in by_degree:
        raise refused("Polynomial(include_bias=True)", "the learners have an intercept")
    blocks = []
    for products in by_degree.values():
        factors = [graph.taken(X, places) for places in zip(*products, strict=True)]
        block = factors[0]
        for factor in factors[1:]:
            block = graph.add("Mul", block, factor)
        blocks.append(block)
    return graph.joined(blocks)


# -- texts -----------------------------------------------------------------------------------


def _add_texts(graph: Graph, step: TextVectorizer, X: str) -> str:
    """Counts of the terms by TfIdfVectorizer, then the weights of `TextVectorizer`."""
    model = step._ready()
    settings = model.settings
    for name, plain in (("strip_accents", None), ("stop_words", None), ("n_features", None)):
        if getattr(settings, name) != plain:
            raise refused(f"TextVectorizer({name}=...)", "there is no operator for it")
    if model.analysis.token_pattern is not None:
        raise refused(
            "TextVectorizer(token_pattern=...)", "patterns of Python are not those of RE2"
        )
    low, high = model.analysis.ngram_range
    words = model.analysis.analyzer == "word"
    if model.analysis.analyzer == "char":
        raise refused("TextVectorizer(analyzer='char')", "white space cannot be replaced")
    if not words and low not in (2, 3):
        # A space alone also stands where a text has no more words; a word of one letter is three
        # characters with its spaces, and would count once as it is.
        raise refused(f"ngram_range=({low}, {high}) of characters", "it must begin with 2 or 3")
    text = X
    if settings.lowercase:
        text = graph.add(
            "StringNormalizer", text, case_change_action="LOWER", locale=_LOCALE,
            is_case_sensitive=1,
        )  # fmt: skip
    text = _tokens(graph, text, tokenexp=_WORD if words else _CHUNK)
    if not words:
        # Two spaces lie between words: no term reaches over them.
        space = graph.words([" "], [])
        text = graph.add("StringConcat", graph.add("StringConcat", space, text), space)
        text = _tokens(graph, text, separators=[""])
        text = graph.add("Reshape", text, graph.constant(np.array([0, -1])))
    counts = graph.cast(
        _add_counts(graph, text, model.learned_vocabulary().names, low, high, words)
    )
    return _add_weights(graph, model, counts)


def _tokens(graph: Graph, text: str, **how: Any) -> str:
    return graph.add(
        "Tokenizer", text, domain=TOKENIZER, mark=0, mincharnum=1, pad_value=_PAD, **how
    )


def _add_counts(
    graph: Graph, tokens: str, names: list[str], low: int, high: int, words: bool
) -> str:
    if not names:
        raise refused("TextVectorizer", "its vocabulary is empty")
    parts = [name.split(" ") if words else list(name) for name in names]
    order = sorted(range(len(parts)), key=lambda at: len(parts[at]))
    # Where the sequences of each length begin among all.
    sizes = np.bincount([len(part) for part in parts], minlength=high + 1)[1:]
    starts = np.concatenate([[0], np.cumsum(sizes * np.arange(1, len(sizes) + 1))[:-1]])
    return graph.add(
        "TfIdfVectorizer", tokens, mode="TF", min_gram_length=low, max_gram_length=high,
        max_skip_count=0, ngram_counts=starts.tolist(), ngram_indexes=order,
        pool_strings=[token for at in order for token in parts[at]],
    )  # fmt: skip


def _add_weights(graph: Graph, model: Any, counts: str) -> str:
    settings = model.settings
    one = graph.constant(1.0)
    there = graph.add("Min", counts, one)
    values = counts
    if settings.binary:
        values = there
    elif settings.sublinear_tf:
        grown = graph.add("Add", graph.add("Log", graph.add("Max", counts, one)), one)
        values = graph.add("Mul", grown, there)
    idf, ratio = model.idf(), model.log_ratio()
    if idf is not None:
        values = graph.add("Mul", values, graph.constant(idf))
    if settings.norm is not None:
        sizes = values if settings.norm == "l1" else graph.add("Mul", values, values)
        size = graph.sum(graph.add("Abs", sizes))
        size = size if settings.norm == "l1" else graph.add("Sqrt", size)
        nothing = graph.add("Equal", size, graph.constant(0.0))
        values = graph.add("Div", values, graph.add("Where", nothing, one, size))
    return values if ratio is None else graph.add("Mul", values, graph.constant(ratio))


# -- tables ----------------------------------------------------------------------------------


def _add_table(graph: Graph, encoder: TableEncoder) -> str:
    """The columns of a table: one matrix where all are numbers, else an input for each."""
    columns: dict[str, Any] = encoder._encoders
    kinds = encoder.kinds_
    dated = [name for name in columns if kinds[name] == "date"]
    if dated:
        raise refused(f"column {dated[0]!r} of dates", "there is no operator for calendars")
    numbers = all(kinds[name] in ("number", "duration") for name in columns)
    if numbers:
        matrix = graph.input("X", len(columns))
        held = {name: graph.taken(matrix, [at]) for at, name in enumerate(columns)}
    else:
        text = ("category", "text")
        held = {name: graph.input(name, text=kinds[name] in text) for name in columns}
        held = {n: x if kinds[n] in text else graph.column(x) for n, x in held.items()}
    paired = {name for pair in encoder.pairs for name in pair}
    parts, codes = [], {}
    for name, one in columns.items():
        parts.append(_add_column(graph, name, one, held[name]))
        if name in paired:
            codes[name] = _codes(graph, name, encoder._in_pairs(name), held[name])
    for (first, second), cells in zip(encoder.pairs, encoder._pairs, strict=True):
        if len(cells.cells):
            keys = _cell(graph, codes[first], codes[second], cells.width)
            parts.append(graph.cast(graph.add("Equal", keys, graph.constant(cells.cells))))
    return graph.joined(parts)


def _add_column(graph: Graph, name: str, one: Any, x: str) -> str:
    """The features of one column, of shape (n, 1) if it holds numbers, else (n,)."""
    if isinstance(one, TextEncoder):
        rows = _add_step(graph, one.vectorizer, x)
        if not one.had_missing:
            return rows
        raise refused(f"column {name!r}", "texts are missing in it, which are no strings")
    if isinstance(one, BothEncoder):
        return graph.joined([_number(graph, one.numbers, x, False), _bins(graph, one.bins, x)])
    if isinstance(one, NumericEncoder):
        return _number(graph, one, x, one.had_missing)
    if isinstance(one, BinEncoder):
        return _bins(graph, one, x)
    if isinstance(one, SplineEncoder):
        return _spline(graph, one, x)
    if isinstance(one, BooleanEncoder):
        gone = graph.add("IsNaN", x)
        there = graph.add("Where", gone, graph.constant(0.0), x)
        return graph.joined([there, *([graph.cast(gone)] if one.had_missing else [])])
    if isinstance(one, CategoryEncoder):
        return graph.one_hot(_codes(graph, name, one, x), len(one.names(name)))
    raise refused(f"column {name!r}", f"there is no operator for {type(one).__name__}")


def _codes(graph: Graph, name: str, one: Any, x: str) -> str:
    """The place of the value of every row, shape (n, 1), as `bins.codes_of` tells it."""
    if isinstance(one, BothEncoder | BinEncoder):
        bins = one.bins if isinstance(one, BothEncoder) else one
        gone = graph.add("IsNaN", x)
        other = graph.constant(len(bins.cuts) + 1 if bins.had_missing else -1)
        if not len(bins.cuts):
            return graph.add("Where", gone, other, graph.constant(0))
        above = graph.add("Greater", x, graph.constant(bins.cuts))
        code = graph.sum(graph.add("Cast", above, to=graph.integer))
        return graph.add("Where", gone, other, code)
    if isinstance(one, BooleanEncoder):
        yes = graph.add("Equal", x, graph.constant(1.0))
        code = graph.add("Where", yes, graph.constant(0), graph.constant(-1))
        if one.had_missing:
            code = graph.add("Where", graph.add("IsNaN", x), graph.constant(1), code)
        return code
    places = dict(one.places)
    if not all(isinstance(value, str) for value in places):
        raise refused(f"column {name!r}", "its categories are no strings")
    if one.had_missing:
        places[""] = len(one.categories) + one.has_rare
    code = graph.add(
        "LabelEncoder", x, domain="ai.onnx.ml", keys_strings=list(places),
        values_int64s=list(places.values()), default_int64=-1,
    )  # fmt: skip
    return graph.column(code)


def _cell(graph: Graph, first: str, second: str, width: int) -> str:
    """first * width + second; -1 where either is not known."""
    key = graph.add("Add", graph.add("Mul", first, graph.constant(width)), second)
    least = graph.add("Less", graph.add("Min", first, second), graph.constant(0))
    return graph.add("Where", least, graph.constant(-1), key)


def _number(graph: Graph, one: NumericEncoder, x: str, marks: bool) -> str:
    """(x - mean) / scale, bent before that where it is robust; NaN becomes the mean."""
    gone = graph.add("IsNaN", x)
    bent = _arsinh(graph, one, x) if isinstance(one, RobustEncoder) else x
    filled = graph.add("Where", gone, graph.constant(one.mean), bent)
    if one.centered:
        filled = graph.add("Sub", filled, graph.constant(one.mean))
    scaled = graph.add("Div", filled, graph.constant(one.scale))
    return graph.joined([scaled, graph.cast(gone)]) if marks else scaled


def _arsinh(graph: Graph, one: RobustEncoder, x: str) -> str:
    """arsinh z of z = (x - median) / spread, as sign(z) ln(|z| + sqrt(z^2 + 1))."""
    z = graph.add("Sub", x, graph.constant(one.median))
    z = graph.add("Div", z, graph.constant(one.spread))
    size = graph.add("Abs", z)
    near = graph.add("Min", size, graph.constant(_FAR))
    root = graph.add("Add", graph.add("Mul", near, near), graph.constant(1.0))
    inner = graph.add("Log", graph.add("Add", near, graph.add("Sqrt", root)))
    # Beyond, ln |z| grows by what |z| is more.
    outer = graph.add("Log", graph.add("Div", size, near))
    there = graph.add("Greater", size, graph.constant(_FAR))
    whole = graph.add("Where", there, graph.add("Add", inner, outer), inner)
    return graph.add("Mul", graph.add("Sign", z), whole)


def _spline(graph: Graph, one: SplineEncoder, x: str) -> str:
    """The shares of the knots: of each a line up to it and a line down, whichever is lower."""
    knots, gone = one.knots, graph.add("IsNaN", x)
    filled = graph.add("Where", gone, graph.constant(knots[0]), x)
    low, high = graph.constant(knots[0]), graph.constant(knots[-1])
    inside = graph.add("Min", graph.add("Max", filled, low), high)
    widths = np.diff(knots)
    # Before the first knot and behind the last the line is level.
    up = np.concatenate([[0.0], 1 / widths]), np.concatenate([[1.0], -knots[:-1] / widths])
    down = np.concatenate([-1 / widths, [0.0]]), np.concatenate([knots[1:] / widths, [1.0]])
    lines = [
        graph.add("Add", graph.add("Mul", inside, graph.constant(slope)), graph.constant(start))
        for slope, start in (up, down)
    ]
    shares = graph.add("Max", graph.add("Min", *lines), graph.constant(0.0))
    there = graph.add("Sub", graph.constant(1.0), graph.cast(gone))
    shares = graph.add("Mul", shares, there)
    return graph.joined([shares, graph.cast(gone)]) if one.had_missing else shares


def _bins(graph: Graph, one: BinEncoder, x: str) -> str:
    return graph.one_hot(_codes(graph, "", one, x), one.width)
