"""Training by the names of CRFsuite's algorithms: the likelihood, and three online rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import ChainCrfsuite
from separatrix.data import AttributeSequences
from separatrix.losses import LogSumExp
from separatrix.objective import objective_for
from separatrix.protocols import Regularizer, Solver
from separatrix.regularizers import L1, L2, ElasticNet, Unpenalized
from separatrix.results import Solution, StopReason, TraceRow
from separatrix.solvers import Auto, Lbfgs, OwlQn
from separatrix.structured.held_out import HeldOutMonitor, held_out_score
from separatrix.structures import Chain, ChainFeatures, CodedLabels
from separatrix.structures.chain.features import Pattern, observed_chain

__all__ = ["Training", "TrainingLog", "frequent_chain", "in_order_of_appearance"]

Floats = npt.NDArray[np.float64]


@dataclass
class TrainingLog:
    """What a fit noted.

    Attributes
    ----------
    featgen_num_features : int
        Number of features.
    iterations : list of dict
        Per pass: "num", "loss" (CRFsuite's), "time" (seconds of the pass), and with held-out
        sequences "item_accuracy_float".
    """

    featgen_num_features: int
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

    def __post_init__(self) -> None:
        self.log = TrainingLog(self.chain.n_weights)

    def run(self, algorithm: str) -> tuple[Floats, Solution]:
        """The weights of the chain, and the record of the run."""
        if algorithm in ("lbfgs", "l2sgd"):
            return self._minimize()
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
            }
            before[0] = row.seconds
            if not np.isnan(row.held_out):
                entry["item_accuracy_float"] = row.held_out
            self.log.iterations.append(entry)
            self.show(entry)

        return note

    def _minimize(self) -> tuple[Floats, Solution]:
        """Minimize c1 |w|_1 + c2 |w|^2 + sum_i (log Z_i - score_i)."""
        settings = self.settings
        C, regularizer = _penalty(settings.get("c1", 0.0), settings["c2"])
        # What OWL-QN estimates from a quadratic model is too small by a factor of some units.
        tol = settings["delta"] if regularizer.smooth else 0.1 * settings["delta"]
        objective = objective_for(
            self.chain,
            self.X,
            self.tags,
            LogSumExp(),
            regularizer,
            C=C,
            tol=tol,
            n_threads=self.n_threads,
        )
        memory = settings.get("num_memories", 6)
        solver: Solver = Lbfgs(memory=memory)
        if not regularizer.smooth:
            solver = OwlQn(memory=memory)
        elif "chain_dual" in objective.can:
            solver = Auto(seed=self.seed)
        options: dict[str, Any] = {
            "tol": tol,
            "max_passes": settings["max_iterations"],
            "report": self._note(C),
        }
        if self.held_out is not None:
            of_weights = self._score(self.held_out)
            options["score"] = lambda variables: of_weights(objective.weights(variables))
        # Without a penalty there may be no optimum to come close to.
        period = settings["period"] if isinstance(regularizer, Unpenalized) else None
        solution = solver.minimize(objective, None, _Monitor(period, **options))
        return objective.weights(solution.w), solution

    def _score(self, held_out: tuple[Any, Any]) -> Callable[[Any], float]:
        """Accuracy on held-out sequences as a function of the weights of the features."""
        classes, n_threads = self.tags.classes, self.n_threads
        return held_out_score(Chain(), self.chain, classes, *held_out, "accuracy", n_threads)

    def _learn_online(self, algorithm: str) -> tuple[Floats, Solution]:
        settings = self.settings
        X = self.X
        precise = AttributeSequences(X.matrix.astype(np.float64), X.vocabulary, X.offsets)
        data = self.chain.encode(precise)
        kinds = {0: "pa", 1: "pa1", 2: "pa2"}
        handle = ChainCrfsuite(
            data.handle,
            self.tags.codes,
            np.ascontiguousarray(self.chain.transitions.T).ravel(),
            {"ap": "perceptron", "arow": "arow"}.get(algorithm) or kinds[settings["pa_type"]],
            settings.get("c", 1.0),
            settings.get("error_sensitive", True),
            settings.get("variance", 1.0),
            settings.get("gamma", 1.0),
            self.seed,
        )
        averaging = algorithm == "ap" or settings.get("averaging", False)
        n, most = len(X), settings["max_iterations"]
        idle = 0

        def weights() -> Floats:
            state, edges, start, end = handle.average(idle) if averaging else handle.weights()
            inner = self.chain.gather(edges, start, end, np.zeros(0))
            return np.concatenate([inner, data.expand(state)])

        score = None
        if self.held_out is not None:
            score = self._score(self.held_out)
        monitor = HeldOutMonitor(tol=0.0, max_passes=most, report=self._note(1.0), score=score)
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


def _penalty(c1: float, c2: float) -> tuple[float, Regularizer]:
    """C and the penalty whose sum with C losses is C times CRFsuite's objective."""
    if c1 == 0 and c2 == 0:
        return 1.0, Unpenalized()
    C = 1 / (c1 + 2 * c2)
    if c1 == 0:
        return C, L2()
    return C, L1() if c2 == 0 else ElasticNet(c1 * C)
