"""P(w) and its minimum in extended precision, without the library's solvers.

P(w) = R(w) + sum_i U_i loss_i(s_i), U_i = C c_i, for small flat problems. `Exact.value` evaluates P
where the library stored its weights; `Exact.minimum` finds min P: Newton's method for smooth losses
without an L1 part, a primal-dual interior-point method otherwise. Both work on centered columns
where intercepts are free, in numpy's longdouble (64 bits of mantissa on x86-64).

Whatever `minimum` returns is the value of P at some weights, so it is an upper bound of min P: a
claimed gap below P(w) minus this value is refuted, however well or badly the search went.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

LONG = np.longdouble
EPS = float(np.finfo(LONG).eps)
#: Newton or interior-point steps at most; far more than a problem needs that is not degenerate.
MAX_STEPS = 100


def _log1p_exp(t):
    return np.maximum(t, 0) + np.log1p(np.exp(-np.abs(t)))


def _sigmoid(t):
    e = np.exp(-np.abs(t))
    return np.where(t >= 0, 1, e) / (1 + e)


#: phi(m), phi'(m), phi''(m) of smooth margin losses, written down again.
SMOOTH_MARGIN = {
    "logistic": lambda m: (_log1p_exp(-m), -_sigmoid(-m), _sigmoid(m) * _sigmoid(-m)),
    "squared_hinge": lambda m: (
        np.maximum(1 - m, 0) ** 2,
        -2 * np.maximum(1 - m, 0),
        2 * (m < 1).astype(m.dtype),
    ),
    "exponential": lambda m: (np.exp(-m), -np.exp(-m), np.exp(-m)),
    "squared": lambda m: ((1 - m) ** 2, -2 * (1 - m), np.full_like(m, 2)),
}
#: Piecewise linear margin losses: max over (slope, offset) of slope * m + offset.
LINEAR_MARGIN = {
    "hinge": ((0, 0), (-1, 1)),
    "perceptron": ((0, 0), (-1, 0)),
}


@dataclass(frozen=True, eq=False)
class Exact:
    """A flat problem in extended precision.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows, exactly as the library got them.
    codes : ndarray of shape (n,)
        Class numbers 0 ... K-1.
    n_classes : int
    loss : Loss
        The registered object: its name chooses the formulas here, its cost matrix is read.
    U : ndarray of shape (n,)
        C c_i.
    l1, l2 : float
        R(w) = l1 |w|_1 + l2 / 2 |w|^2.
    intercept : {"free", "penalized", "none"}
    """

    X: np.ndarray
    codes: np.ndarray
    n_classes: int
    loss: Any
    U: np.ndarray
    l1: float
    l2: float
    intercept: str

    @property
    def n_scores(self) -> int:
        return 1 if self.loss.n_scores == 1 else self.n_classes

    @cached_property
    def signs(self):
        return np.where(self.codes == 1, LONG(1), LONG(-1))

    @cached_property
    def center(self):
        """Weighted means of the columns where intercepts are free, else zero."""
        X = self.X.astype(LONG)
        if self.intercept != "free":
            return np.zeros(X.shape[1], dtype=LONG)
        return self.U.astype(LONG) @ X / self.U.sum(dtype=LONG)

    @cached_property
    def design(self):
        """Centered columns, and a column of ones where there are intercepts."""
        X = self.X.astype(LONG) - self.center
        return X if self.intercept == "none" else np.c_[X, np.ones(len(X), dtype=LONG)]

    @property
    def n_penalized(self) -> int:
        """Rows of the weights that the penalty sees."""
        return self.design.shape[1] - (self.intercept == "free")

    # -- values -----------------------------------------------------------------------------------

    def losses(self, scores):
        """Loss of every row at scores of shape (n, K), and nothing else."""
        name = getattr(self.loss, "name", "")
        if self.n_scores == 1:
            m = self.signs * scores[:, 0]
            if name in SMOOTH_MARGIN:
                return SMOOTH_MARGIN[name](m)[0]
            if name in LINEAR_MARGIN:
                return np.max([a * m + b for a, b in LINEAR_MARGIN[name]], axis=0)
            return self.loss.value(m)
        own = scores[np.arange(len(scores)), self.codes]
        if name == "multiclass_logistic":
            top = scores.max(axis=1)
            return np.log(np.exp(scores - top[:, None]).sum(axis=1)) + (top - own)
        return (scores + self.offsets).max(axis=1) - own

    @cached_property
    def offsets(self):
        """What the maximum adds to the scores of each row: the costs of a margin loss."""
        cost = getattr(self.loss.max_op, "cost", None)
        if cost is None:
            unit = LONG(self.loss.name == "multiclass_hinge")
            cost = unit * (1 - np.eye(self.n_classes, dtype=LONG))
        return np.asarray(cost, dtype=LONG)[self.codes]

    def penalty(self, w):
        w = w[: self.n_penalized]
        return LONG(self.l1) * np.abs(w).sum() + LONG(self.l2) / 2 * (w * w).sum()

    def value_at(self, w) -> Any:
        """P at weights of the centered problem, of shape (d, K)."""
        return self.penalty(w) + self.U @ self.losses(self.design @ w)

    def value(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[Any, Any]:
        """P at weights as a model stores them, and a bound of the rounding in that number."""
        w, b = self._unpaired(coef, intercept)
        X = self.X.astype(LONG)
        scores = X @ w + b
        terms = np.abs(X) @ np.abs(w) + np.abs(b)
        off = (X.shape[1] + 4) * EPS * terms.max(axis=1)
        rows = np.c_[w.T, b].T if self.intercept == "penalized" else w
        value = self.penalty(rows) + self.U @ self.losses(scores)
        # The losses are convex and at most this steep near the scores.
        steep = np.abs(self.losses(scores * (1 + 1e-9)) - self.losses(scores))
        wide = np.abs(scores).max(axis=1) * 1e-9
        slope = np.where(wide > 0, steep / np.where(wide > 0, wide, 1), 0)
        slope = np.maximum(slope, self._slope(scores))
        return value, self.U @ (slope * off) + 64 * EPS * value

    def _slope(self, scores):
        if self.n_scores == 1 and self.loss.name in SMOOTH_MARGIN:
            return np.abs(SMOOTH_MARGIN[self.loss.name](self.signs * scores[:, 0])[1])
        return np.full(len(scores), LONG(2))

    def _unpaired(self, coef, intercept):
        """Weights of shape (d, K); with two classes and a score each, half of the difference."""
        w, b = coef.T.astype(LONG), intercept.astype(LONG)
        if self.n_scores == 2 and w.shape[1] == 1:
            w, b = np.c_[-w, w] / 2, np.r_[-b, b] / 2
        return w, b

    def centered(self, coef, intercept):
        """Weights of the centered problem from those that a model stores."""
        w, b = self._unpaired(coef, intercept)
        return w if self.intercept == "none" else np.r_[w, (b + self.center @ w)[None]]

    # -- the minimum ------------------------------------------------------------------------------

    def minimum(self, starts: Iterable[np.ndarray] = ()) -> Any:
        """The lowest value found of P: an upper bound of min P that is nearly exact.

        `starts` are weights of the centered problem that somebody believes to be good.
        """
        return self.argmin(starts)[1]

    def argmin(self, starts: Iterable[np.ndarray] = ()) -> tuple[np.ndarray, Any]:
        """Weights of the centered problem with the lowest value found of P, and that value."""
        zero = np.zeros((self.design.shape[1], self.n_scores), dtype=LONG)
        points = [zero, *(w for w in starts if np.isfinite(w).all())]
        with np.errstate(all="ignore"):
            values = [self.value_at(w) for w in points]
            finite = [i for i, value in enumerate(values) if np.isfinite(value)]
            best = min(finite, key=lambda i: values[i])
            if values[best] == 0:  # losses and penalties are never negative
                return points[best], values[best]
            plain = self.is_smooth and self.l1 == 0
            found = _newton(self, points[best]) if plain else _interior_point(self)
            value = self.value_at(found)
        if np.isfinite(value) and value <= values[best]:
            return found, value
        return points[best], values[best]

    @property
    def is_smooth(self) -> bool:
        name = getattr(self.loss, "name", "")
        if self.n_scores == 1:
            return name not in LINEAR_MARGIN
        return name == "multiclass_logistic"

    def loss_derivatives(self, w):
        """Gradient of shape (d K,) and Hessian (d K, d K) of the losses alone."""
        Z, U = self.design, self.U
        scores = Z @ w
        if self.n_scores == 1:
            m = self.signs * scores[:, 0]
            name = getattr(self.loss, "name", "")
            if name in SMOOTH_MARGIN:
                _, first, second = SMOOTH_MARGIN[name](m)
            else:
                first, second = self.loss.derivative(m), self.loss.second(m)
            return Z.T @ (U * first * self.signs), (Z.T * (U * second)) @ Z
        d, K = w.shape
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        ds = p.copy()
        ds[np.arange(len(p)), self.codes] -= 1
        hessian = np.zeros((d, K, d, K), dtype=LONG)
        for k in range(K):
            for j in range(k + 1):
                block = (Z.T * (U * p[:, k] * ((k == j) - p[:, j]))) @ Z
                hessian[:, k, :, j] = block
                hessian[:, j, :, k] = block
        return (Z.T @ (U[:, None] * ds)).ravel(), hessian.reshape(d * K, d * K)


def _factor(matrix):
    """Cholesky factor in extended precision, with the scales that made the diagonal one."""
    n = len(matrix)
    diagonal = np.diagonal(matrix).copy()
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1)), 1)
    L = matrix * scale[:, None] * scale
    for j in range(n):
        pivot = L[j, j] - L[j, :j] @ L[j, :j]
        if not pivot > 0:
            return None
        L[j, j] = np.sqrt(pivot)
        L[j + 1 :, j] = (L[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L, scale


def _solve(factor, right):
    L, scale = factor
    n = len(L)
    x = right * scale
    for i in range(n):
        x[i] = (x[i] - L[i, :i] @ x[:i]) / L[i, i]
    for i in reversed(range(n)):
        x[i] = (x[i] - L[i + 1 :, i] @ x[i + 1 :]) / L[i, i]
    return x * scale


def _regular_solve(matrix, right, ridge):
    """matrix^-1 right with a relative ridge, raised while the matrix is not positive definite."""
    diagonal = np.diagonal(matrix).copy()
    floor = diagonal.max(initial=LONG(0)) * LONG(1e-30) + LONG(1e-300)
    for _ in range(40):
        damped = matrix + np.diag(ridge * diagonal + floor)
        factor = _factor(damped)
        if factor is not None:
            return _solve(factor, right)
        ridge = max(10 * ridge, LONG(1e-18))
        floor *= 10
    return np.zeros_like(right)


def _newton(exact: Exact, w):
    """Newton steps with halving, for smooth losses without an L1 part."""
    shape, rows = w.shape, exact.n_penalized
    l2 = np.zeros(shape, dtype=LONG)
    l2[:rows] = exact.l2
    l2 = l2.ravel()
    v, value = w.ravel().astype(LONG), exact.value_at(w)
    ridge, stuck = LONG(0), 0
    for _ in range(MAX_STEPS):
        grad, hessian = exact.loss_derivatives(v.reshape(shape))
        hessian = hessian + np.diag(l2)
        _pin(exact, hessian)
        step = -_regular_solve(hessian, grad + l2 * v, ridge)
        t = LONG(1)
        while t > 1e-12:
            new = exact.value_at((v + t * step).reshape(shape))
            if new < value:
                break
            t /= 2
        # Less than this is rounding.
        if value - new > 1e-16 * value:
            v, value, stuck = v + t * step, new, 0
            ridge = ridge / 100 if ridge > 1e-17 else LONG(0)
            continue
        stuck += 1
        ridge = max(1000 * ridge, LONG(1e-18))
        if stuck > 2:
            break
    return v.reshape(shape)


def _pin(exact: Exact, matrix) -> None:
    """Scores of all classes may move together and nothing changes: make that direction stiff."""
    K = exact.n_scores
    if exact.intercept == "free" and K > 1:
        block = slice(exact.n_penalized * K, None)
        matrix[block, block] += np.diagonal(matrix)[block].max() / K


def _pieces(exact: Exact):
    """What P is made of beside its smooth part: groups U_g max_k (a_gk v + h_gk), as A, h and U.

    |v_j| is the maximum of v_j and -v_j, so the L1 part is made of groups of two.
    """
    Z = exact.design
    n, d = Z.shape
    K = exact.n_scores
    groups = []
    if not exact.is_smooth and K == 1:
        signed = exact.signs[:, None] * Z
        lines = LINEAR_MARGIN[exact.loss.name]
        A = np.stack([a * signed for a, _ in lines], axis=1)
        h = np.tile(np.array([b for _, b in lines], dtype=LONG), (n, 1))
        groups.append((A, h, exact.U))
    elif not exact.is_smooth:
        own = np.eye(K, dtype=LONG)[exact.codes]
        classes = np.eye(K, dtype=LONG)[None] - own[:, None]
        A = (Z[:, None, :, None] * classes[:, :, None, :]).reshape(n, K, d * K)
        groups.append((A, exact.offsets, exact.U))
    if exact.l1 > 0:
        p = exact.n_penalized * K
        unit = np.eye(p, d * K, dtype=LONG)
        A = np.stack([unit, -unit], axis=1)
        groups.append((A, np.zeros((p, 2), dtype=LONG), np.full(p, LONG(exact.l1))))
    return groups


class _Group:
    """U max_k (a_k v + h_k) for some rows: min over xi of U xi with slacks xi - a_k v - h_k > 0.

    `alpha` are the multipliers of the slacks; those of a row sum to its U throughout.
    """

    def __init__(self, A, h, U) -> None:
        self.A = A[U > 0]
        size = self.A.shape[1]
        self.alpha = np.repeat((U[U > 0] / size)[:, None], size, axis=1)
        h = h[U > 0]
        self.slack = h.max(axis=1, keepdims=True) + 1 - h

    def matrix(self):
        """What the group adds to the Newton matrix of v once xi is eliminated."""
        self.D = self.alpha / self.slack
        self.total = self.D.sum(axis=1)
        mean = (self.D[:, :, None] * self.A).sum(axis=1) / self.total[:, None]
        self.spread = self.A - mean[:, None, :]
        flat = self.spread.reshape(-1, self.A.shape[2])
        return (flat.T * self.D.ravel()) @ flat

    def pull(self):
        """Gradient of the Lagrangian: sum of alpha a."""
        return self.alpha.ravel() @ self.A.reshape(-1, self.A.shape[2])

    def push(self, target):
        """Right-hand side when alpha * slack is to become `target`."""
        self._push = (target - self.alpha * self.slack) / self.slack
        return self._push.ravel() @ self.spread.reshape(-1, self.A.shape[2])

    def move(self, dv):
        """Changes of alpha and slack that belong to the change of v."""
        along = self.A @ dv
        dxi = (self._push.sum(axis=1) + (self.D * along).sum(axis=1)) / self.total
        self.d_slack = dxi[:, None] - along
        self.d_alpha = self._push - self.D * self.d_slack

    def longest(self, share):
        """The longest step, at most one, that leaves a share of all alphas and slacks."""
        step = LONG(1)
        for x, dx in ((self.alpha, self.d_alpha), (self.slack, self.d_slack)):
            down = dx < 0
            if down.any():
                step = min(step, share * (x[down] / -dx[down]).min())
        return step

    def product(self, step=0):
        """Sum of alpha * slack after a step."""
        if not step:
            return (self.alpha * self.slack).sum()
        return ((self.alpha + step * self.d_alpha) * (self.slack + step * self.d_slack)).sum()


def _interior_point(exact: Exact):
    """Mehrotra's predictor-corrector method for a smooth part and groups of linear pieces."""
    d, K = exact.design.shape[1], exact.n_scores
    l2 = np.zeros((d, K), dtype=LONG)
    l2[: exact.n_penalized] = exact.l2
    l2 = l2.ravel()
    groups = [_Group(*pieces) for pieces in _pieces(exact)]
    count = sum(group.alpha.size for group in groups)

    def smooth_part(v):
        if not exact.is_smooth:
            return l2 * v, np.diag(l2)
        grad, hessian = exact.loss_derivatives(v.reshape(d, K))
        return grad + l2 * v, hessian + np.diag(l2)

    v = np.zeros(d * K, dtype=LONG)
    best, lowest = v, exact.value_at(v.reshape(d, K))
    short = 0
    for _ in range(MAX_STEPS):
        mu = sum(group.product() for group in groups) / count
        grad, matrix = smooth_part(v)
        residual = grad + sum(group.pull() for group in groups)
        matrix = matrix + sum(group.matrix() for group in groups)
        _pin(exact, matrix)
        factor, ridge = _factor(matrix), LONG(1e-19)
        while factor is None and ridge < 1e-3:
            factor = _factor(matrix + np.diag(ridge * np.diagonal(matrix)))
            ridge *= 10
        if factor is None:
            break
        far = residual @ _solve(factor, residual)
        if not mu * count > 1e-15 * lowest and not far > 1e-15 * lowest:
            break

        def aim(targets, factor=factor, residual=residual):
            pushes = (group.push(target) for group, target in zip(groups, targets, strict=True))
            dv = _solve(factor, -residual - sum(pushes))
            for group in groups:
                group.move(dv)
            return dv

        aim([0] * len(groups))
        step = min(group.longest(LONG(1)) for group in groups)
        after = sum(group.product(step) for group in groups) / count
        sigma = max(min(LONG(1), (after / mu) ** 3), LONG(0.3) if short else LONG(1e-9))
        if exact.is_smooth and far > mu * count:
            sigma = LONG(1)  # complementarity must not run ahead of the gradient
        dv = aim([sigma * mu - (0 if short else g.d_alpha * g.d_slack) for g in groups])
        step = min(group.longest(LONG(0.995)) for group in groups)
        while exact.is_smooth and step > 1e-9:
            new_grad, _ = smooth_part(v + step * dv)
            new = new_grad + sum(
                g.pull() + step * (g.d_alpha.ravel() @ g.A.reshape(-1, len(v))) for g in groups
            )
            if new @ _solve(factor, new) <= max((1 - step / 10) * far, 1e-3 * mu * count):
                break
            step /= 2
        short = short + 1 if step < 0.1 else 0
        if short > 30:
            break
        v = v + step * dv
        for group in groups:
            group.alpha = group.alpha + step * group.d_alpha
            group.slack = group.slack + step * group.d_slack
        value = exact.value_at(v.reshape(d, K))
        if value < lowest:
            best, lowest = v, value
    return best.reshape(d, K)
