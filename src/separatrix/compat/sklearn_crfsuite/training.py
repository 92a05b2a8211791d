"""Training by the names of CRFsuite's algorithms: the likelihood, and three online rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import ChainOnline
from separatrix.data import AttributeSequences
from separatrix.errors import DataError
from separatrix.learners.structured.held_out import HeldOutMonitor
from separatrix.losses import LogSumExp
from separatrix.objective import objective_for
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.protocols import Penalty, Solver
from separatrix.results import Solution, StopReason, TraceRow
from separatrix.solvers import Auto, Lbfgs, OwlQn
from separatrix.structures import Chain, ChainFeatures, CodedLabels
from separatrix.structures.chain.structure import Pattern, observed_chain

__all__ = ["LabelScore", "Training", "TrainingLog", "frequent_chain", "in_order_of_appearance"]

Floats = npt.NDArray[np.float64]


class LabelScore(NamedTuple):
    """How well a label was found in held-out sequences; None where nothing can be counted.

    Attributes
    ----------
    match, model, ref : int
        Items that have the label and got it, that got it, and that have it.
    precision, recall, f1 : float or None
    """

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None

    @classmethod
    def of(cls, match: int, model: int, ref: int) -> LabelScore:
        """The score of so many items."""
        if model == ref == 0:
            return cls(0, 0, 0, None, None, None)
        precision, recall = match / max(model, 1), match / max(ref, 1)
        f1 = 2 * precision * recall / (precision + recall) if match else 0.0
        return cls(match, model, ref, precision, recall, f1)


@dataclass
class TrainingLog:
    """What a fit noted, by the names of python-crfsuite.

    Attributes
    ----------
    featgen_num_features : int
        Number of features.
    featgen_seconds, training_seconds, storing_seconds : float
        Time of making features, of the passes, and of writing the model.
    iterations : list of dict
        Per pass: "num", "loss" (CRFsuite's), "time" (seconds of the pass), "feature_norm" (not of
        l2sgd), of lbfgs also "active_features" (weights that are not zero), "error_norm",
        "linesearch_trials" and "linesearch_step". The last three are NaN, 0 and NaN in passes that
        know no gradient and search no line. With held-out sequences also "item_accuracy" and
        "instance_accuracy" (fractions; with "_float" behind them, numbers), "avg_precision",
        "avg_recall", "avg_f1" (means over labels) and "scores", a `LabelScore` per label.
    """

    featgen_num_features: int
    featgen_seconds: float = 0.0
    training_seconds: float = 0.0
    storing_seconds: float = 0.0
    iterations: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        """The last pass, None without one."""
        return self.iterations[-1] if self.iterations else None


def in_order_of_appearance(tags: CodedLabels) -> CodedLabels:
    """The same labels, numbered as they first appear: ties go to the lower number, as there."""
    used, first = np.unique(tags.codes, return_index=True)
    order = used[np.argsort(first)]
    numbers = np.empty(len(tags.classes), dtype=np.int64)
    numbers[order] = np.arange(len(order))
    return CodedLabels(tags.classes[order], numbers[tags.codes], tags.offsets)


def frequent_chain(
    X: AttributeSequences, tags: CodedLabels, settings: dict[str, Any]
) -> ChainFeatures:
    """The features that CRFsuite would make: those whose values add up to `min_freq` or more."""
    K = len(tags.classes)
    chain = observed_chain(
        X,
        K,
        tags.codes,
        state_features="all" if settings["all_possible_states"] else "observed",
        transitions="all" if settings["all_possible_transitions"] else "observed",
        boundaries=False,
    )
    least = settings["min_freq"]
    if least == 0 and (X.matrix.nnz == 0 or X.matrix.data.min() >= 0):
        return chain
    n = len(tags.codes)
    hot: Any = sp.csr_matrix((np.ones(n), tags.codes, np.arange(n + 1)), shape=(n, K))
    attributes, labels = chain.state.attributes, np.array(chain.state.outputs)
    seen = (X.matrix.T @ hot).tocsr()
    kept = np.asarray(seen[attributes, labels]).ravel() >= least
    counts = np.bincount(attributes[kept], minlength=X.matrix.shape[1])
    pattern = Pattern(np.append(0, np.cumsum(counts)).astype(np.int64), labels[kept])
    inner = np.ones(n, dtype=bool)
    inner[X.offsets[:-1][X.lengths > 0]] = False
    after = np.flatnonzero(inner)
    pairs = np.zeros((K, K))
    np.add.at(pairs, (tags.codes[after - 1], tags.codes[after]), 1.0)
    return replace(chain, state=pattern, transitions=chain.transitions & (pairs >= least))


class _Monitor(HeldOutMonitor):
    """Stops at a relative gap of `tol` or, with a `period`, when that many passes gained less."""

    def __init__(self, period: int | None, **options: Any) -> None:
        super().__init__(**options)
        self._period = period

    def converged(self, objective: float, gap: float) -> bool:
        """Whether the gap is within the tolerance, or progress has ended."""
        if gap <= self.tol * abs(objective):
            return True
        rows, period = self.trace.rows, self._period
        if period is None or len(rows) <= period:
            return False
        return bool(rows[-1 - period].objective - objective < self.tol * abs(objective))


@dataclass
class Training:
    """One run on sequences that are encoded.

    Attributes
    ----------
    X, tags, chain
        Tokens, labels and features.
    settings : dict
        Values of the algorithm's parameters.
    n_threads, seed : int
        Threads, and the order of the sequences.
    show : callable
        Called with every pass of the log.
    held_out : (X, y) or None
        Sequences to score after every pass.
    """

    X: AttributeSequences
    tags: CodedLabels
    chain: ChainFeatures
    settings: dict[str, Any]
    n_threads: int
    seed: int
    show: Callable[[dict[str, Any]], None]
    held_out: tuple[Any, Any] | None = None
    log: TrainingLog = field(init=False)
    _details: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.log = TrainingLog(self.chain.n_weights)

    def run(self, algorithm: str) -> tuple[Floats, Solution]:
        """The weights of the chain, and the record of the run."""
        if algorithm in ("lbfgs", "l2sgd"):
            return self._minimize(algorithm)
        return self._learn_online(algorithm)

    def _note(self, scale: float) -> Callable[[TraceRow], None]:
        """A reporter that writes the log; losses are told in CRFsuite's scale."""
        before = [0.0]

        def note(row: TraceRow) -> None:
            entry: dict[str, Any] = {
                "num": len(self.log.iterations) + 1,
                "scores": {},
                "loss": row.objective / scale,
                "time": row.seconds - before[0],
                **self._details,
            }
            before[0] = self.log.training_seconds = row.seconds
            self.log.iterations.append(entry)
            self.show(entry)

        return note

    def _look(self, algorithm: str) -> Callable[[Any], float]:
        """A function that notes what the log tells of weights, and gives the held-out accuracy."""
        measure = None if self.held_out is None else self._measured(*self.held_out)

        def look(w: Any) -> float:
            details: dict[str, Any] = {}
            if algorithm != "l2sgd":
                details["feature_norm"] = float(np.linalg.norm(w))
            if algorithm == "lbfgs":
                details["active_features"] = int(np.count_nonzero(w))
                details |= {"error_norm": float("nan"), "linesearch_trials": 0}
                details["linesearch_step"] = float("nan")
            if measure is not None:
                details |= measure(w)
            self._details = details
            return float(details.get("item_accuracy_float", float("nan")))

        return look

    def _measured(self, X: Any, y: Any) -> Callable[[Floats], dict[str, Any]]:
        """A function from weights to what is right in held-out sequences."""
        chain, classes = self.chain, self.tags.classes
        structure = Chain(boundaries=False, transitions="observed")
        inputs = structure.read(X, chain)
        numbers = {label: number for number, label in enumerate(classes.tolist())}
        K = len(classes)
        truth = np.array([numbers.get(label, K) for row in y for label in row], dtype=np.int64)
        if len(truth) != inputs.offsets[-1]:
            raise DataError(f"X_dev has {inputs.offsets[-1]} items, y_dev {len(truth)} labels")

        def measure(w: Floats) -> dict[str, Any]:
            found = chain.best(chain.scores(w, inputs, self.n_threads), self.n_threads).labels
            right = found == truth
            counts = np.stack(
                [np.bincount(x, minlength=K + 1)[:K] for x in (found[right], found, truth)], axis=1
            )
            scores = [LabelScore.of(*row) for row in counts.tolist()]
            wrong = np.append(0, np.cumsum(~right))[inputs.offsets]
            whole = Fraction(int((np.diff(wrong) == 0).sum()), max(1, len(inputs)))
            items = Fraction(int(right.sum()), max(1, len(truth)))
            means = {
                f"avg_{name}": float(np.mean([getattr(one, name) or 0.0 for one in scores]))
                for name in ("precision", "recall", "f1")
            }
            return {
                "scores": dict(zip(classes.tolist(), scores, strict=True)),
                **means,
                "item_accuracy": items,
                "item_accuracy_float": float(items),
                "instance_accuracy": whole,
                "instance_accuracy_float": float(whole),
            }

        return measure

    def _minimize(self, algorithm: str) -> tuple[Floats, Solution]:
        """Minimize c1 |w|_1 + c2 |w|^2 + sum_i (log Z_i - score_i)."""
        settings = self.settings
        C, penalty = _penalty(settings.get("c1", 0.0), settings["c2"])
        tol = settings["delta"]
        objective = objective_for(
            self.chain,
            self.X,
            self.tags,
            LogSumExp(),
            penalty,
            C=C,
            tol=tol,
            n_threads=self.n_threads,
        )
        memory = settings.get("num_memories", 6)
        solver: Solver = Lbfgs(memory=memory)
        if "chain_dual" in objective.can:
            solver = Auto(seed=self.seed)
        elif not penalty.smooth:
            solver = OwlQn(memory=memory)
        options: dict[str, Any] = {
            "tol": tol,
            "max_passes": settings["max_iterations"],
            "report": self._note(C),
        }
        look = self._look(algorithm)
        options["score"] = lambda variables: look(objective.weights(variables))
        # Without a penalty there may be no optimum to come close to.
        period = settings["period"] if isinstance(penalty, Unpenalized) else None
        solution = solver.minimize(objective, None, _Monitor(period, **options))
        return objective.weights(solution.w), solution

    def _learn_online(self, algorithm: str) -> tuple[Floats, Solution]:
        settings = self.settings
        X = self.X
        precise = AttributeSequences(X.matrix.astype(np.float64), X.vocabulary, X.offsets)
        data = self.chain.encode(precise)
        handle = ChainOnline(
            data.handle,
            self.tags.codes,
            None,
            np.ascontiguousarray(self.chain.transitions.T).ravel(),
            False,
            ("pa", "pa1", "pa2")[settings["pa_type"]] if algorithm == "pa" else algorithm,
            settings.get("variance" if algorithm == "arow" else "c", 1.0),
            settings.get("error_sensitive", True),
            settings.get("gamma", 1.0),
            None,
            None,
            0,
            self.seed,
        )
        averaging = algorithm == "ap" or settings.get("averaging", False)
        n, most = len(X), settings["max_iterations"]
        idle = 0

        def weights() -> Floats:
            state, edges, start, end = handle.average(idle) if averaging else handle.weights()
            inner = self.chain.gather(edges, start, end, np.zeros(0))
            return np.concatenate([inner, data.expand(state)])

        monitor = HeldOutMonitor(
            tol=0.0, max_passes=most, report=self._note(1.0), score=self._look(algorithm)
        )
        loss, passes, stopped = float("inf"), 0, None
        try:
            while stopped is None:
                loss = handle.run_epoch()
                passes += 1
                stopped = monitor.record(passes, loss, loss, weights)
                if loss / n < settings["epsilon"]:
                    stopped = StopReason.CONVERGED
                elif loss == 0.0:
                    # The passes that are left change nothing but the average.
                    idle = (most - passes) * n
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        w = weights()
        solution = Solution(
            w=w[:, None],
            n_passes=float(passes),
            gap=loss,
            stopped=stopped,
            trace=monitor.trace,
            objective=loss,
            certificate="loss of the last pass",
            solver=f"{algorithm}, as CRFsuite defines it",
        )
        return w, solution


def _penalty(c1: float, c2: float) -> tuple[float, Penalty]:
    """C and the penalty whose sum with C losses is C times CRFsuite's objective."""
    if c1 == 0 and c2 == 0:
        return 1.0, Unpenalized()
    C = 1 / (c1 + 2 * c2)
    if c1 == 0:
        return C, L2()
    return C, L1() if c2 == 0 else ElasticNet(c1 * C)
