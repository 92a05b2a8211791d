"""Typed stub of the Rust extension; checked against the built module by the tests."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

build_profile: str
isa: str

_Floats = npt.NDArray[np.floating[Any]]
_Ints = npt.NDArray[np.integer[Any]]
_Ranked = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32], npt.NDArray[np.float32]]

@final
class Csr:
    def __new__(cls, indptr: _Ints, indices: _Ints, data: _Floats, n_cols: int) -> Csr: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def extent(self) -> tuple[int, float, float]: ...
    def check(self, n_threads: int) -> bool: ...
    def double(self) -> Csr: ...

@final
class Dense:
    def __new__(cls, values: _Floats) -> Dense: ...
    @property
    def values(self) -> _Floats: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def check(self, n_threads: int) -> bool: ...

_Words = tuple[bytes, npt.NDArray[np.int64]]
_Coded = tuple[npt.NDArray[np.int32], _Words]

@final
class Block:
    def __new__(cls, data: bytes, first_line: int) -> Block: ...
    @property
    def first_line(self) -> int: ...
    def data(self) -> bytes: ...

@final
class Source:
    def __new__(
        cls,
        origin: bytes | str | os.PathLike[str],
        line_limit: int | None = None,
        unpack_limit: int | None = None,
    ) -> Source: ...
    @property
    def packing(self) -> str | None: ...
    def peek(self, n: int) -> bytes: ...
    def read(self, n: int | None) -> bytes: ...
    def block(self, n: int | None, groups: bool) -> Block | None: ...

def read_svmlight(
    block: Block, zero_based: bool | None, n_features: int | None, n_threads: int
) -> tuple[
    tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]],
    npt.NDArray[np.int64] | None,
    tuple[_Ints, _Ints, npt.NDArray[np.float64]],
    int,
    bool,
    tuple[int | None, int | None],
]: ...
def conll_layout(block: Block) -> str | None: ...
def read_conll(
    block: Block, layout: str, shape: tuple[int, int] | None, n_threads: int
) -> tuple[
    npt.NDArray[np.int64],
    list[_Coded],
    tuple[_Words, npt.NDArray[np.int64]],
    npt.NDArray[np.int64],
]: ...

@final
class WordIndex:
    def __new__(cls, data: bytes, offsets: npt.NDArray[np.int64]) -> WordIndex: ...
    def __len__(self) -> int: ...

def encode_items(
    sequences: Iterable[Any], index: WordIndex | None, letters: bool
) -> tuple[
    npt.NDArray[Any],
    npt.NDArray[np.int32],
    npt.NDArray[Any],
    npt.NDArray[np.int64],
    _Words | None,
]: ...
def brown_clusters(
    codes: npt.NDArray[np.int32],
    n_classes: int,
    min_count: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64], int, list[tuple[int, int]]]: ...
def read_crfsuite(
    block: Block, n_threads: int
) -> tuple[
    npt.NDArray[np.int64],
    _Coded,
    tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]],
    _Words,
    npt.NDArray[np.float64],
]: ...
def read_csv(
    data: bytes,
    start: int,
    delimiter: int,
    wanted: bytes,
    missing: list[bytes],
    lines: tuple[int, int],
    most: int | None,
    last: bool,
    n_threads: int,
) -> tuple[list[Any], int, int, int]: ...
def write_rows(
    columns: list[
        npt.NDArray[np.float64] | npt.NDArray[np.int64] | tuple[npt.NDArray[np.int64], list[str]]
    ],
    between: list[str],
    n_threads: int,
) -> str: ...
def identity_codes(values: list[Any]) -> tuple[npt.NDArray[np.int64], list[Any]] | None: ...
def write_svmlight(
    labels: npt.NDArray[np.float64],
    label_starts: npt.NDArray[np.int64],
    queries: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    base: int,
    first: int,
    last: int,
) -> bytes: ...
def write_crfsuite(
    starts: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int64],
    label_names: _Words,
    rows: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    attributes: _Words,
) -> bytes: ...
def scores(design: Csr | Dense, w: _Floats, n_threads: int) -> _Floats: ...
def adjoint(design: Csr | Dense, residuals: _Floats, n_threads: int) -> _Floats: ...
def double_scores(design: Csr | Dense, w: _Floats, n_threads: int) -> _Doubles: ...
def longest_row(design: Csr | Dense) -> float: ...
def double_adjoint(design: Csr | Dense, residuals: _Doubles, n_threads: int) -> _Doubles: ...
def solve_columns(
    design: Csr | Dense,
    y: _Ints,
    table: _Floats,
    upper: _Floats,
    loss: str,
    intercept: str,
    seed: int,
    tol: float,
    max_passes: float,
    patience: float,
    keep_weights: bool,
    n_threads: int,
) -> tuple[
    _Floats | None,
    tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]],
    tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.int64],
    ],
]: ...
def row_scores(design: Csr | Dense, rows: _Ints, w: _Floats) -> _Floats: ...
def row_adjoint(design: Csr | Dense, rows: _Ints, residuals: _Floats) -> _Floats: ...
def curvature_rate(design: Csr | Dense, loss: str, k: int) -> float | None: ...
def scheduled_rate(name: str, rate: float, t: float, m: float, l2: float) -> float: ...
def newest_share(t: float) -> float: ...
def expand(
    design: Csr,
    min_degree: int,
    max_degree: int,
    interaction_only: bool,
    n_features: int | None,
    wide: bool,
    n_threads: int,
) -> tuple[_Ints, _Ints, _Floats]: ...
def expand_dense(
    design: Dense, min_degree: int, max_degree: int, interaction_only: bool, n_threads: int
) -> _Floats: ...
def count_labels(
    x: Csr, y: npt.NDArray[np.uint32], order: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]: ...

@final
class LabelCounts:
    def __new__(
        cls,
        starts: _Ints,
        labels: _Ints,
        counts: _Floats,
        shares: _Floats,
        label_mass: _Floats,
        label_rows: _Floats,
    ) -> LabelCounts: ...
    def weights(self, mu: float, n_threads: int) -> npt.NDArray[np.uint8]: ...

@final
class LabelExamples:
    def __new__(
        cls,
        rows: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.uint8],
        features: npt.NDArray[np.uint16],
        worths: npt.NDArray[np.uint8],
    ) -> LabelExamples: ...

@final
class LabelIndex:
    def __new__(
        cls,
        starts: _Ints,
        labels: npt.NDArray[np.uint16] | npt.NDArray[np.uint32],
        weights: npt.NDArray[np.uint8],
        wide: _Ints,
        wide_weights: npt.NDArray[np.uint8],
        penalty: npt.NDArray[np.int16],
        prior: npt.NDArray[np.int16],
    ) -> LabelIndex: ...
    def ranks(
        self,
        counts: LabelCounts,
        mu: float,
        alpha: float,
        x: Csr,
        y: npt.NDArray[np.uint32],
        n_threads: int,
    ) -> npt.NDArray[np.float32]: ...
    def learn(
        self,
        counts: LabelCounts,
        mu: float,
        alpha: float,
        examples: LabelExamples,
        places: npt.NDArray[np.uint32],
        x: Csr,
        y: npt.NDArray[np.uint32],
        order: npt.NDArray[np.uint32],
        n_candidates: int,
        rates: tuple[float, float, float],
        factors: npt.NDArray[np.float32],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.float32],
        n_threads: int,
    ) -> tuple[int, int, int, float]: ...
    def rank(
        self,
        examples: LabelExamples,
        x: Csr,
        factors: tuple[float, float],
        biases: npt.NDArray[np.float32],
        pairs: npt.NDArray[np.int8],
        unit: float,
        n_candidates: int,
        keep: int,
        n_threads: int,
    ) -> _Ranked: ...

def joint_learn(
    x: Csr,
    y: npt.NDArray[np.uint32],
    phi: Csr,
    starts: npt.NDArray[np.int64],
    rivals: npt.NDArray[np.int32],
    n_trained: int,
    order: npt.NDArray[np.uint32],
    rule: str,
    rate: float,
    decay: float,
    n_sampled: int,
    seed: int,
    hashed: bool,
    weights: npt.NDArray[np.float32],
    seen: int,
) -> tuple[int, float, int]: ...
def joint_rank(
    x: Csr,
    phi: Csr,
    weights: npt.NDArray[np.float32],
    hashed: bool,
    keep: int,
    n_threads: int,
) -> _Ranked: ...
def label_sets_learn(
    x: Csr,
    starts: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int32],
    n_labels: int,
    orders: npt.NDArray[np.uint32],
    rate: float,
    decay: float,
    n_threads: int,
) -> tuple[npt.NDArray[np.int8], _Floats, _Floats, _Floats]: ...
def label_sets_best(
    x: Csr,
    steps: npt.NDArray[np.int8],
    sizes: npt.NDArray[np.float32],
    intercepts: npt.NDArray[np.float32],
    keep: int,
    n_threads: int,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]: ...
def joint(
    x: Csr, z: Csr, n_features: int | None, wide: bool, n_threads: int
) -> tuple[_Ints, _Ints, _Floats]: ...
def measure_pixels(
    images: Dense, height: int, width: int, threshold: float, corners: bool, n_threads: int
) -> _Ints: ...
def vote_shares(
    start: _Floats,
    gram: _Floats,
    row: _Ints,
    raised: _Ints,
    lowered: _Ints,
    size: _Floats,
    survived: _Ints,
    start_survived: int,
    n_classes: int,
    n_threads: int,
) -> _Floats: ...

@final
class Online:
    def __new__(
        cls,
        design: Csr | Dense,
        targets: _Ints,
        row_weights: _Floats | None,
        n_classes: int,
        rule: str,
        step: float,
        keep: str,
        weights: _Floats | tuple[int, int],
        average: _Floats | None,
        seen: int,
        seed: int | None,
        n_threads: int,
    ) -> Online: ...
    @property
    def seen(self) -> int: ...
    @property
    def learners(self) -> int: ...
    def run_epoch(self) -> int: ...
    def margin(self) -> tuple[float, float]: ...
    def weights(self) -> _Floats: ...
    def average(self) -> _Floats: ...
    def finish(self) -> tuple[_Floats, _Floats]: ...
    def log(self) -> tuple[_Ints, _Ints, _Ints, _Floats, _Ints, int]: ...

@final
class StepRule:
    def __new__(
        cls, name: str, mean_decay: float, decay: float, epsilon: float, size: int
    ) -> StepRule: ...
    def step(
        self, w: _Floats, grad: _Floats, rate: float, l1: float, l2: float, penalized: int
    ) -> None: ...

@final
class Stochastic:
    def __new__(
        cls,
        design: Csr | Dense,
        targets: _Ints,
        row_weights: _Floats | None,
        loss: str,
        cost: _Floats | None,
        weights: _Floats | tuple[int, int],
        rule: tuple[str, float, float, float],
        schedule_name: str,
        rate: float,
        intercept_share: float,
        batch_size: int,
        average: bool,
        l1: float,
        l2: float,
        penalized: int,
        seed: int | None,
        n_threads: int,
    ) -> Stochastic: ...
    @property
    def steps(self) -> int: ...
    def run(self, n_rows: int) -> float: ...
    def mean(self) -> _Floats: ...
    def finish(self) -> _Floats: ...

@final
class DualBinary:
    def __new__(
        cls,
        design: Csr | Dense,
        y: npt.NDArray[np.float64],
        upper: npt.NDArray[np.float64],
        loss: str,
        intercept: str,
        seed: int,
        n_threads: int,
        start: npt.NDArray[np.float64] | None = None,
        intercepts: npt.NDArray[np.float64] | None = None,
    ) -> DualBinary: ...
    @property
    def n_threads(self) -> int: ...
    def run_pass(self) -> tuple[float, float, float, float]: ...
    def certificate(self) -> tuple[float, float, float]: ...
    def weights(self) -> _Floats: ...
    def duals(self) -> npt.NDArray[np.float64]: ...

@final
class DualMulticlass:
    def __new__(
        cls,
        design: Csr | Dense,
        y: npt.NDArray[np.int64],
        upper: npt.NDArray[np.float64],
        n_classes: int,
        loss: str,
        cost: npt.NDArray[np.float64] | None,
        intercept: str,
        seed: int,
        n_threads: int,
        start: npt.NDArray[np.float64] | None = None,
        intercepts: npt.NDArray[np.float64] | None = None,
    ) -> DualMulticlass: ...
    @property
    def n_threads(self) -> int: ...
    def run_pass(self) -> tuple[float, float, float, float]: ...
    def certificate(self) -> tuple[float, float, float]: ...
    def weights(self) -> _Floats: ...
    def duals(self) -> npt.NDArray[np.float64]: ...

def losses_at(
    loss: str,
    scores: _Floats,
    targets: npt.NDArray[Any],
    row_weights: _Floats | None,
    n_threads: int,
) -> tuple[float, _Floats]: ...
def fused_value_and_grad(
    design: Csr | Dense,
    loss: str,
    targets: npt.NDArray[Any],
    row_weights: _Floats | None,
    w: _Floats,
    n_threads: int,
) -> tuple[float, npt.NDArray[np.float64]]: ...
def gram(
    design: Dense,
    rows: npt.NDArray[np.int64] | None,
    weights: _Floats,
    intercept: bool,
    n_threads: int,
) -> _Floats: ...
def label_gram(
    design: Dense,
    rows: npt.NDArray[np.int64] | None,
    weights: npt.NDArray[np.float64],
    kept: int,
    intercept: bool,
    n_threads: int,
) -> npt.NDArray[np.float64]: ...
def moments(
    design: Dense,
    y: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64] | None,
    shift: npt.NDArray[np.float64],
    n_threads: int,
) -> npt.NDArray[np.float64]: ...
def fixed_moves(
    rows: tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.float64],
    ],
    products: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def interior_moves(
    rows: tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.float64],
    ],
    fixed: npt.NDArray[np.float64],
    lifts: npt.NDArray[np.float64],
    ds: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]: ...
def margin_judgment(
    loss: str,
    scores: npt.NDArray[np.float64],
    signs: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    duals: npt.NDArray[np.float64] | None,
    intercept: tuple[float, bool],
    reach: tuple[float, float],
    single: bool,
    l2: bool,
    wanted: float,
    n_threads: int,
) -> tuple[float, float, float, float, float, float, float, npt.NDArray[np.float64]]: ...
def newton_margins(
    design: Csr | Dense,
    signs: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    loss: str,
    intercept: str,
    start: tuple[npt.NDArray[np.float64], float, npt.NDArray[np.float64] | None] | None,
    tol: float,
    least: float,
    max_passes: int,
    keep: bool,
    n_threads: int,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    float,
    list[tuple[float, float, float, float, npt.NDArray[np.float64]]],
    bool,
]: ...
def newton_softmax(
    design: Dense,
    classes: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    n_classes: int,
    intercept: str,
    start: npt.NDArray[np.float64] | None,
    tol: float,
    least: float,
    max_passes: int,
    keep: bool,
    n_threads: int,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    float,
    list[tuple[float, float, float, float, npt.NDArray[np.float64]]],
    bool,
]: ...
def quadratic_descent(
    hessian: npt.NDArray[np.float64],
    gradient: npt.NDArray[np.float64],
    start: npt.NDArray[np.float64],
    l1: npt.NDArray[np.float64],
    l2: npt.NDArray[np.float64],
    tolerance: float,
    max_sweeps: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, float]: ...
def column_descent(
    design: Csr | Dense,
    columns: npt.NDArray[np.int64],
    curvature: _Floats,
    gradient: npt.NDArray[np.float64],
    start: npt.NDArray[np.float64],
    l1: npt.NDArray[np.float64],
    l2: npt.NDArray[np.float64],
    tolerance: float,
    max_sweeps: int,
    seed: int,
) -> tuple[npt.NDArray[np.float64], int, float]: ...
def column_gram(
    design: Csr, columns: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]: ...
def hash_features(
    rows: Any, input_type: str, n_features: int, alternate_sign: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...

@final
class Characters:
    def __new__(
        cls,
        properties: npt.NDArray[np.uint8],
        replaced: npt.NDArray[np.uint32],
        replacements: list[str],
        sigma: str,
        final_sigma: str,
        lowercase: bool,
        ascii: bool,
    ) -> Characters: ...

@final
class TextAnalyzer:
    def __new__(
        cls, characters: Characters, kind: str, min_n: int, max_n: int, stop_words: list[str]
    ) -> TextAnalyzer: ...

@final
class TextColumn:
    def __new__(cls, chunks: list[tuple[_Ints, npt.NDArray[np.uint8]]]) -> TextColumn: ...

@final
class TextCounter:
    def __new__(cls, analyzer: TextAnalyzer, tally: str) -> TextCounter: ...
    @staticmethod
    def restored(
        analyzer: TextAnalyzer, tally: str, terms: TextTerms, n_documents: int
    ) -> TextCounter: ...
    @property
    def n_documents(self) -> int: ...
    def feed(
        self,
        documents: Any,
        classes: npt.NDArray[np.uint8] | None,
        keep: bool,
        n_threads: int,
    ) -> int: ...
    def finish(self, low: float, high: float, n_threads: int) -> TextTerms: ...
    def rows(self, terms: TextTerms, n_threads: int) -> TextRows: ...

@final
class TextTerms:
    def __new__(
        cls,
        names: npt.NDArray[np.uint8],
        ends: npt.NDArray[np.int64],
        kind: str,
        frequency: npt.NDArray[np.uint32] | None = None,
        counts: npt.NDArray[np.uint64] | None = None,
    ) -> TextTerms: ...
    @property
    def n_terms(self) -> int: ...
    def names(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]: ...
    def frequency(self) -> npt.NDArray[np.uint32]: ...
    def counts(self) -> npt.NDArray[np.uint64]: ...
    def restricted(self, keep: npt.NDArray[np.bool_]) -> TextTerms: ...

@final
class TextIndex:
    def __new__(cls, analyzer: TextAnalyzer, terms: TextTerms) -> TextIndex: ...
    def rows(self, documents: Any, n_threads: int) -> TextRows: ...

@final
class TextRows:
    @property
    def n_rows(self) -> int: ...
    def frequency(self, n_features: int) -> npt.NDArray[np.float64]: ...
    def counts(
        self, n_features: int, classes: npt.NDArray[np.uint8], binary: bool
    ) -> npt.NDArray[np.float64]: ...
    def weigh(
        self,
        n_features: int,
        binary: bool,
        sublinear: bool,
        idf: npt.NDArray[np.float64] | None,
        norm: str,
        scale: npt.NDArray[np.float64] | None,
        single: bool,
        n_threads: int,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], _Floats]: ...

def hash_text(
    analyzer: TextAnalyzer,
    documents: Any,
    n_features: int,
    alternate_sign: bool,
    n_threads: int,
) -> TextRows: ...
def survey(
    design: Csr | Dense, n_threads: int
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint8],
]: ...
def count(
    design: Csr | Dense,
    kinds: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.int64] | None,
    threshold: float,
    targets: npt.NDArray[np.int64],
    row_weights: npt.NDArray[np.float64] | None,
    n_classes: int,
    n_threads: int,
) -> (
    tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
    ]
    | None
): ...
def joint_likelihood(
    design: Csr | Dense,
    kinds: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.int64] | None,
    threshold: float,
    start: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    base: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
    table: npt.NDArray[np.float64],
    n_threads: int,
) -> npt.NDArray[np.float64] | None: ...
def class_scatter(
    design: Dense,
    targets: npt.NDArray[np.int64],
    row_weights: npt.NDArray[np.float64] | None,
    n_classes: int,
    pooled: bool,
    n_threads: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...

_TemplateColumn = tuple[npt.NDArray[np.int32], bytes, npt.NDArray[np.int64], npt.NDArray[np.int32]]
_TemplateRows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]

@final
class TemplatePlan:
    def __new__(
        cls,
        literals: Sequence[Sequence[str]],
        templates: Sequence[tuple[int, Sequence[tuple[int, int, bool]]]],
        spaces: Sequence[int],
        escape: bool,
    ) -> TemplatePlan: ...
    def learn(
        self,
        columns: Sequence[_TemplateColumn],
        starts: npt.NDArray[np.int64],
        min_count: int,
        keep: bool,
        n_threads: int,
    ) -> tuple[TemplateIndex, _TemplateRows | None]: ...
    def hash(
        self,
        columns: Sequence[_TemplateColumn],
        starts: npt.NDArray[np.int64],
        n_columns: int,
        n_threads: int,
    ) -> _TemplateRows: ...

@final
class TemplateIndex:
    def __new__(
        cls,
        plan: TemplatePlan,
        spaces: Sequence[tuple[bytes, npt.NDArray[np.int64]]],
        keys: Sequence[Sequence[npt.NDArray[np.uint64]]],
    ) -> TemplateIndex: ...
    @property
    def n_attributes(self) -> int: ...
    def offsets(self) -> npt.NDArray[np.int64]: ...
    def spaces(self) -> list[tuple[bytes, npt.NDArray[np.int64]]]: ...
    def keys(self) -> list[list[npt.NDArray[np.uint64]]]: ...
    def names(self) -> tuple[bytes, npt.NDArray[np.int64]]: ...
    def encode(
        self,
        columns: Sequence[_TemplateColumn],
        starts: npt.NDArray[np.int64],
        n_threads: int,
    ) -> _TemplateRows: ...

_Labels = npt.NDArray[np.int64]
_Doubles = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]
_ChainScores = tuple[_Doubles, _Doubles, _Doubles, _Doubles]
_ChainWeights = tuple[_Doubles, _Doubles, _Doubles, _Doubles, _Doubles]

@final
class ChainGraph:
    def __new__(
        cls, n_labels: int, label_of: _Labels, edge_from: _Labels, edge_to: _Labels
    ) -> ChainGraph: ...
    @classmethod
    def first_order(cls, n_labels: int) -> ChainGraph: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...

def chain_best(
    graph: ChainGraph, scores: _ChainScores, offsets: _Labels, n_threads: int
) -> tuple[_Labels, _Doubles]: ...
def chain_k_best(
    graph: ChainGraph, scores: _ChainScores, offsets: _Labels, k: int, n_threads: int
) -> list[tuple[_Labels, _Doubles]]: ...
def chain_log_partition(
    graph: ChainGraph, scores: _ChainScores, offsets: _Labels, n_threads: int
) -> _Doubles: ...
def chain_marginals(
    graph: ChainGraph, scores: _ChainScores, offsets: _Labels, with_edges: bool, n_threads: int
) -> tuple[_Doubles, _Doubles, _Doubles | None]: ...
def chain_sample(
    graph: ChainGraph,
    scores: _ChainScores,
    offsets: _Labels,
    n_draws: int,
    seed: int,
    n_threads: int,
) -> _Labels: ...

_SegmentKinds = tuple[_Labels, _Labels, _Labels]
_SegmentScores = tuple[_Doubles, _Doubles, _Doubles, _Doubles, _Doubles]

def segments_best(
    kinds: _SegmentKinds, scores: _SegmentScores, offsets: _Labels, n_threads: int
) -> tuple[_Labels, _Doubles]: ...
def segments_marginals(
    kinds: _SegmentKinds, scores: _SegmentScores, offsets: _Labels, n_threads: int
) -> tuple[_Doubles, _Doubles, _Doubles, _Doubles]: ...

_GraphScores = tuple[_Doubles, _Doubles, _Doubles | None]
_GraphSettings = tuple[str, float, float, int]
_GraphEndings = tuple[_Bools, _Labels, _Doubles]
_GraphSums = tuple[_Doubles, _Doubles, _Doubles | None, _Doubles, _GraphEndings]

@final
class GraphWiring:
    def __new__(
        cls,
        node_offsets: _Labels,
        edge_offsets: _Labels,
        edge_from: _Labels,
        edge_to: _Labels,
        edge_kind: _Labels,
    ) -> GraphWiring: ...
    @property
    def shape(self) -> tuple[int, int, int, int]: ...
    def is_forest(self) -> bool: ...
    def check_forest(self) -> None: ...
    def widths(self, n_labels: int, max_cells: int) -> _Labels: ...

def graph_best(
    graph: GraphWiring, scores: _GraphScores, max_cells: int | None, n_threads: int
) -> tuple[_Labels, _Doubles]: ...
def graph_log_partition(
    graph: GraphWiring, scores: _GraphScores, max_cells: int | None, n_threads: int
) -> _Doubles: ...
def graph_marginals(
    graph: GraphWiring,
    scores: _GraphScores,
    with_edges: bool,
    max_cells: int | None,
    n_threads: int,
) -> tuple[_Doubles, _Doubles, _Doubles | None]: ...
def graph_sample(
    graph: GraphWiring,
    scores: _GraphScores,
    n_draws: int,
    seed: int,
    max_cells: int | None,
    n_threads: int,
) -> _Labels: ...
def graph_beliefs(
    graph: GraphWiring,
    scores: _GraphScores,
    settings: _GraphSettings,
    messages: _Doubles | None,
    with_edges: bool,
    n_threads: int,
) -> _GraphSums: ...
def graph_max_beliefs(
    graph: GraphWiring,
    scores: _GraphScores,
    settings: _GraphSettings,
    messages: _Doubles | None,
    n_threads: int,
) -> tuple[_Labels, _Doubles, _Doubles, _GraphEndings]: ...
def graph_tree_reweighted(
    graph: GraphWiring,
    scores: _GraphScores,
    settings: _GraphSettings,
    seed: int,
    messages: _Doubles | None,
    with_edges: bool,
    n_threads: int,
) -> _GraphSums: ...
def graph_mean_field(
    graph: GraphWiring,
    scores: _GraphScores,
    settings: _GraphSettings,
    start: _Doubles | None,
    n_threads: int,
) -> tuple[_Doubles, _Doubles, _GraphEndings]: ...
def graph_best_bound(
    graph: GraphWiring, scores: _GraphScores, settings: _GraphSettings, seed: int, n_threads: int
) -> tuple[_Labels, _Doubles, _Doubles, _GraphEndings]: ...
def grid_messages(
    graph: GraphWiring,
    scores: _GraphScores,
    shapes: list[tuple[int, int]],
    maximum: bool,
    settings: _GraphSettings,
    messages: _Doubles | None,
    n_threads: int,
) -> tuple[_Doubles, _GraphEndings]: ...

@final
class Chains:
    def __new__(
        cls,
        tokens: Csr,
        offsets: _Labels,
        pattern_starts: _Labels,
        pattern_labels: _Labels,
        n_labels: int,
        merge: bool,
        edges: tuple[Csr, _Labels, _Labels] | None = None,
    ) -> Chains: ...
    @property
    def shape(self) -> tuple[int, int, int, int]: ...
    def multiplicity(self) -> _Doubles: ...
    def positions(self) -> _Labels: ...
    def value_and_grad(
        self,
        graph: ChainGraph,
        weights: _ChainWeights,
        labels: _Labels | None,
        allowed: _Bools | None,
        sequence_weights: _Doubles | None,
        free_edges: _Bools | None,
        n_threads: int,
    ) -> tuple[float, float, _ChainWeights]: ...
    def widened(self) -> Chains: ...

@final
class ChainScorer:
    def __new__(
        cls, pattern_starts: _Labels, pattern_labels: _Labels, weights: _Doubles, n_labels: int
    ) -> ChainScorer: ...
    def scores(self, tokens: Csr, n_threads: int) -> _Doubles: ...
    def best(
        self,
        tokens: Csr,
        offsets: _Labels,
        bonds: tuple[_Doubles, _Doubles, _Doubles],
        n_threads: int,
    ) -> _Labels: ...

def observed_labels(
    tokens: Csr, n_labels: int, labels: _Labels | None, allowed: _Bools | None
) -> tuple[_Labels, _Labels]: ...

_LearnerWeights = tuple[_Doubles, _Doubles, _Doubles, _Doubles]

@final
class ChainOnline:
    def __new__(
        cls,
        chains: Chains,
        labels: _Labels,
        sequence_weights: _Doubles | None,
        free_edges: _Bools,
        boundaries: bool,
        rule: str,
        step: float,
        by_errors: bool,
        gamma: float,
        weights: _LearnerWeights | None,
        average: _LearnerWeights | None,
        seen: int,
        seed: int | None,
    ) -> ChainOnline: ...
    @property
    def seen(self) -> int: ...
    def run_epoch(self) -> float: ...
    def weights(self) -> _LearnerWeights: ...
    def average(self, idle: int) -> _LearnerWeights: ...

@final
class ChainDual:
    def __new__(
        cls,
        chains: Chains,
        labels: _Labels,
        upper: _Doubles,
        free_edges: _Bools,
        boundaries: bool,
        l1: float,
        l2: float,
        seed: int,
    ) -> ChainDual: ...
    def run_pass(self) -> float: ...
    def weights(self) -> _LearnerWeights: ...
    def curvature(self) -> _LearnerWeights: ...

@final
class ChainMargin:
    def __new__(
        cls,
        chains: Chains,
        graph: ChainGraph,
        links: tuple[_Labels, _Labels, _Labels, _Labels, int],
        labels: _Labels,
        cost: _Doubles,
        scale: _Doubles,
        upper: _Doubles,
    ) -> ChainMargin: ...
    @property
    def n_weights(self) -> int: ...
    def loss(self, weights: _Doubles, n_threads: int) -> tuple[float, float]: ...

@final
class MarginPlanes:
    def __new__(cls, factors: _Doubles, n_weights: int, seed: int) -> MarginPlanes: ...
    @property
    def n_planes(self) -> int: ...
    def add(
        self, examples: _Labels, planes: tuple[_Labels, _Labels, _Doubles], costs: _Doubles
    ) -> int: ...
    def sweep(self, examples: _Labels | None) -> float: ...
    def losses(self, w: _Doubles) -> _Doubles: ...
    def dual(self) -> float: ...
    def weights(self) -> _Doubles: ...

@final
class ChainVisits:
    def __new__(cls, margin: ChainMargin, kind: str, seed: int) -> ChainVisits: ...
    def run_pass(self) -> float: ...
    def dual(self) -> float: ...
    def weights(self) -> _Doubles: ...
    def average(self) -> _Doubles: ...

@final
class ChainSegments:
    def __new__(cls, margin: ChainMargin, seed: int) -> ChainSegments: ...
    @property
    def counts(self) -> tuple[int, int]: ...
    def run_pass(self) -> float: ...
    def sweep(self) -> float: ...
    def search(self, at: _Doubles | None, n_threads: int) -> tuple[float, _Doubles]: ...
    def active(self) -> tuple[_Labels, _Labels, _Labels, _Labels, _Doubles]: ...
    def restore(self, active: tuple[_Labels, _Labels, _Labels, _Labels, _Doubles]) -> None: ...
    def dual(self) -> float: ...
    def weights(self) -> _Doubles: ...
