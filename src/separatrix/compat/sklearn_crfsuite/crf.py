"""sklearn-crfsuite's CRF on separatrix's solvers."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from separatrix.compat.sklearn_crfsuite.metrics import flat_accuracy_score
from separatrix.compat.sklearn_crfsuite.model_file import ModelFile
from separatrix.compat.sklearn_crfsuite.parameters import settings_of
from separatrix.compat.sklearn_crfsuite.tagger import ModelInfo, Tagger, crfsuite_sequences
from separatrix.compat.sklearn_crfsuite.training import (
    Training,
    TrainingLog,
    frequent_chain,
    in_order_of_appearance,
)
from separatrix.data import AttributeSequences
from separatrix.errors import DataError, ParameterError
from separatrix.learners.structured import CRF as ChainCRF
from separatrix.results import StopReason
from separatrix.structures import Chain, CodedLabels
from separatrix.structures.coded_labels import encode_tags
from separatrix.validation import number_of_threads, refuse_dask, seed_from

__all__ = ["CRF"]


@dataclass(eq=False, repr=False)
class CRF(BaseEstimator):  # type: ignore[misc]
    """`sklearn_crfsuite.CRF`, with the same objectives and rules, and faster solvers.

    "lbfgs" and "l2sgd" minimize c1 |w|_1 + c2 |w|^2 - log-likelihood; "ap", "pa" and "arow" follow
    CRFsuite's rules of averaged perceptron, passive–aggressive learning and AROW. Starts and ends
    of sequences have no weights, and labels are numbered as they first appear, as in CRFsuite.

    A parameter that the algorithm does not have is an error, as in CRFsuite. Those that only choose
    the way to the same optimum are taken and have no effect; they are marked so below.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        "lbfgs" by default.
    min_freq : float, optional
        Features whose values in the training data add up to less have no weight; 0 by default,
        which leaves out those with a negative sum, as in CRFsuite.
    all_possible_states, all_possible_transitions : bool, optional
        Whether (attribute, label) and (label, label) pairs that were not seen have weights too.
    c1, c2 : float, optional
        Weights of |w|_1 (lbfgs; 0 by default) and of |w|^2 (lbfgs, l2sgd; 1 by default).
    max_iterations : int, optional
        The most passes; unlimited for lbfgs, 1000 for l2sgd and 100 for the others by default.
    num_memories : int, optional
        lbfgs: pairs that OWL-QN keeps (c1 > 0, c2 = 0); no effect otherwise.
    epsilon : float, optional
        ap, pa, arow: stop when the mean loss of a pass is below it. lbfgs: no effect.
    period : int, optional
        lbfgs, l2sgd: passes over which progress is measured where there is no penalty; otherwise no
        effect, since the distance from the optimum is known.
    delta : float, optional
        lbfgs, l2sgd: stop when the objective is within this share of its minimum.
    linesearch, max_linesearch : optional
        lbfgs: no effect.
    calibration_eta, calibration_rate, calibration_samples, calibration_candidates, \
calibration_max_trials : optional
        l2sgd: no effect, there is no learning rate.
    pa_type : {0, 1, 2}, optional
        pa: without slack, with it (by default), or with its square.
    c : float, optional
        pa: weight of the slack.
    error_sensitive : bool, optional
        pa: whether the margin is the root of the number of wrong labels (by default) or one.
    averaging : bool, optional
        pa: whether to average the weights (by default).
    variance, gamma : float, optional
        arow: variance of the weights at the beginning, and weight of keeping it.
    verbose : bool
        Whether to print a line per pass.
    model_filename : str, optional
        A CRFsuite model to predict with; `fit` writes its model there, in CRFsuite's format.
    keep_tempfiles : bool
        Whether the temporary file that `modelfile` wrote stays when the model goes.
    trainer_cls : None
        Nothing else can be trained with.
    n_jobs : int or None
        Threads; the result does not depend on them. Not in sklearn-crfsuite.
    random_state : int, RandomState or None
        Order of the sequences; None stands for 0. Not in sklearn-crfsuite.

    Attributes
    ----------
    model_ : separatrix.CRF
        The model, which answers more: k best labellings, constraints, samples, minimum risk. It can
        be saved by `separatrix.save`.
    training_log_ : TrainingLog or None
        `iterations`, each with "num", "loss", "time" and what else python-crfsuite notes.
    tagger_, classes_, size_, num_attributes_, attributes_, state_features_, transition_features_
        As in sklearn-crfsuite; None before `fit`.

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["D", "N"], ["N", "V"]]
    >>> crf = CRF(algorithm="lbfgs", c1=0.01, c2=0.01, max_iterations=100).fit(X, y)
    >>> crf.predict_single([{"word": "the"}, {"word": "cats"}])
    ['D', 'N']
    >>> crf.classes_, sorted(crf.transition_features_)
    (['D', 'N', 'V'], [('D', 'N'), ('N', 'V')])
    """

    model_: ChainCRF = field(init=False)
    training_log_ = cast("TrainingLog | None", None)

    algorithm: str | None = None
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    num_memories: int | None = None
    epsilon: float | None = None
    period: int | None = None
    delta: float | None = None
    linesearch: str | None = None
    max_linesearch: int | None = None
    calibration_eta: float | None = None
    calibration_rate: float | None = None
    calibration_samples: int | None = None
    calibration_candidates: int | None = None
    calibration_max_trials: int | None = None
    pa_type: int | None = None
    c: float | None = None
    error_sensitive: bool | None = None
    averaging: bool | None = None
    variance: float | None = None
    gamma: float | None = None
    verbose: bool = False
    model_filename: str | None = None
    keep_tempfiles: bool = False
    trainer_cls: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        path = self.model_filename
        return hasattr(self, "model_") or (path is not None and os.path.exists(path))

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Train a model.

        Parameters
        ----------
        X : list of lists of dicts
            Items of every sequence, as for python-crfsuite; any form that `separatrix.CRF` takes.
        y : list of lists of str
            Labels.
        X_dev, y_dev : optional
            Sequences whose accuracy is noted after every pass.

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        own = ("verbose", "model_filename", "keep_tempfiles", "trainer_cls")
        ours = ("n_jobs", "random_state")
        params = self.get_params(deep=False)
        algorithm, settings = settings_of(
            {name: value for name, value in params.items() if name not in (*own, *ours)}
        )
        if self.trainer_cls is not None:
            raise ParameterError(
                "trainer_cls must be None: there is no trainer of python-crfsuite to replace; "
                "training_log_ and verbose describe the passes"
            )
        if (X_dev is None) != (y_dev is None):
            raise DataError("Pass both X_dev and y_dev to use the holdout data")
        start = time.perf_counter()
        X, tags = _encoded(X, y)
        structure = Chain(boundaries=False, transitions="observed")
        model = ChainCRF(structure, n_jobs=self.n_jobs, solver="auto")
        chain = frequent_chain(X, tags, settings)
        training = Training(
            X,
            tags,
            chain,
            settings,
            number_of_threads(self.n_jobs),
            seed_from(0 if self.random_state is None else self.random_state),
            self._show,
            None if X_dev is None else (crfsuite_sequences(X_dev), list(y_dev)),
        )
        training.log.featgen_seconds = time.perf_counter() - start
        w, solution = training.run(algorithm)
        model._keep(chain, tags.classes, w, solution)
        self.model_, self.training_log_ = model, training.log
        self._forget()
        if solution.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        start = time.perf_counter()
        if self.model_filename is not None:
            model.to_crfsuite(self.model_filename)
        training.log.storing_seconds = time.perf_counter() - start
        return self

    def _forget(self) -> None:
        """Drop what was made of an earlier model."""
        for name in ("_tagger", "_modelfile"):
            self.__dict__.pop(name, None)

    def _show(self, entry: dict[str, Any]) -> None:
        if self.verbose:
            parts = ["Iter {num:<3}", "time={time:<5.2f}", "loss={loss:<8.2f}"]
            if "active_features" in entry:
                parts.append("active={active_features:<5}")
            if "avg_precision" in entry:
                parts.append("precision={avg_precision:0.3f}  recall={avg_recall:0.3f}")
                parts.append("F1={avg_f1:0.3f}  Acc(item/seq)={item_accuracy_float:0.3f}")
                parts.append("{instance_accuracy_float:0.3f}")
            if "feature_norm" in entry:
                parts.append("feature_norm={feature_norm:<8.2f}")
            print("  ".join(parts).format(**entry).strip())

    def _fitted(self) -> ChainCRF:
        """The model; that of `model_filename` where there was no fit."""
        if not hasattr(self, "model_"):
            if self.model_filename is None:
                raise NotFittedError(
                    "This CRF instance is not fitted yet. Call 'fit', or give a model_filename."
                )
            self.model_ = ChainCRF.from_crfsuite(self.model_filename)
        return self.model_

    def predict(self, X: Any) -> npt.NDArray[np.object_]:
        """Labels of every sequence: an array of lists, shape (n_sequences,)."""
        model = self._fitted()
        return _array_of(model.predict(crfsuite_sequences(X, model)))

    def predict_single(self, xseq: Sequence[Any]) -> list[Any]:
        """Labels of one sequence."""
        model = self._fitted()
        labels: list[Any] = model.predict(crfsuite_sequences([xseq], model))[0]
        return labels

    def predict_marginals(self, X: Any) -> npt.NDArray[np.object_]:
        """For every item of every sequence a dict of label to probability."""
        model = self._fitted()
        labels = model.classes_.tolist()
        return _array_of(
            [
                [dict(zip(labels, row, strict=True)) for row in marginals.tolist()]
                for marginals in model.predict_proba(crfsuite_sequences(X, model))
            ]
        )

    def predict_marginals_single(self, xseq: Sequence[Any]) -> list[dict[Any, float]]:
        """For every item of a sequence a dict of label to probability."""
        found: list[dict[Any, float]] = self.predict_marginals([xseq])[0]
        return found

    def score(self, X: Any, y: Any) -> float:
        """Share of the items that are labeled right."""
        return float(flat_accuracy_score(y, self.predict(X)))

    @property
    def _known(self) -> bool:
        """Whether there is a model: from `fit`, or a file."""
        return hasattr(self, "model_") or self.model_filename is not None

    @property
    def tagger_(self) -> Tagger | None:
        """Answers of python-crfsuite's Tagger: tag, set, probability, marginal, labels, info."""
        if not self._known:
            return None
        if "_tagger" not in self.__dict__:
            self._tagger = Tagger(self._fitted())
        return self._tagger

    @property
    def modelfile(self) -> ModelFile:
        """The model as a file of CRFsuite; `name` is its path, None before `fit`."""
        if "_modelfile" not in self.__dict__:
            self._modelfile = ModelFile(self.model_filename, self.keep_tempfiles)
            if hasattr(self, "model_") and self.model_filename is None:
                model = self.model_
                self._modelfile.hold(lambda: ModelInfo(model).content)
        return self._modelfile

    @property
    def _info(self) -> ModelInfo | None:
        return None if self.tagger_ is None else self.tagger_.info()

    @property
    def classes_(self) -> list[Any] | None:
        """The labels as they first appeared."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def state_features_(self) -> dict[tuple[str, Any], float] | None:
        """Weights that are not zero, by (attribute, label)."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float] | None:
        """Weights that are not zero, by (label before, label)."""
        return None if self._info is None else self._info.transitions

    @property
    def attributes_(self) -> list[str] | None:
        """Attributes with a weight that is not zero."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def num_attributes_(self) -> int | None:
        """Number of attributes with a weight that is not zero."""
        return None if self._info is None else len(self._info.attributes)

    @property
    def size_(self) -> int | None:
        """Bytes of the model in CRFsuite's format."""
        return None if self._info is None else len(self._info.content)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        for name in ("_tagger", "_modelfile"):
            state.pop(name, None)
        return state


def _encoded(X: Any, y: Any) -> tuple[AttributeSequences, CodedLabels]:
    X = crfsuite_sequences(X)
    if len(X) == 0:
        raise DataError("Found array with 0 sample(s): X holds no sequence")
    if X.edge_matrix is not None:
        raise DataError("CRFsuite knows no attributes of edges; use separatrix.CRF")
    return X, in_order_of_appearance(encode_tags(y, X.offsets))


def _array_of(rows: list[Any]) -> npt.NDArray[np.object_]:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array
