"""Counters of a service, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import Any

__all__ = ["Histogram", "Metrics", "quoted"]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Probabilities of predicted classes.
_CHANCES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384)


#: What an observer counts in a sample of rows.
_SAMPLED = {
    "separatrix_missing_values_total": "Missing values in columns of sampled rows.",
    "separatrix_sampled_labels_total": "Predictions for sampled rows, by class.",
    "separatrix_sampled_rows_total": "Rows that were looked at for drift.",
    "separatrix_sampled_values_squares": "Squares of predicted numbers of sampled rows.",
    "separatrix_sampled_values_sum": "Predicted numbers of sampled rows.",
    "separatrix_shadow_difference_sum": "Distances between predicted numbers of model and shadow.",
    "separatrix_shadow_rows_total": "Sampled rows on which the shadow agrees, differs or fails.",
    "separatrix_unknown_values_total": "Categories in sampled rows that the training had not.",
}


class Histogram:
    r"""Counts of values below rising bounds.

    Examples
    --------
    >>> histogram = Histogram((1.0, 2.0))
    >>> histogram.add(1.5)
    >>> print("\n".join(histogram.lines("size", "")))
    size_bucket{le="1"} 0
    size_bucket{le="2"} 1
    size_bucket{le="+Inf"} 1
    size_sum 1.5
    size_count 1
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    @property
    def state(self) -> tuple[list[int], float]:
        """Counts and sum, as plain values."""
        return self.counts, self.total

    def merge(self, state: tuple[list[int], float]) -> None:
        """Add the counts of another one."""
        self.counts = [mine + other for mine, other in zip(self.counts, state[0], strict=True)]
        self.total += state[1]

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str) -> list[str]:
        """Lines for Prometheus; `labels` as in ``route="/"``."""
        before = f"{labels}," if labels else ""
        found, below = [], 0
        for bound, count in zip((*self.bounds, None), self.counts, strict=True):
            below += count
            upper = "+Inf" if bound is None else f"{bound:g}"
            found.append(f'{name}_bucket{{{before}le="{upper}"}} {below}')
        after = f"{{{labels}}}" if labels else ""
        return [*found, f"{name}_sum{after} {self.total:g}", f"{name}_count{after} {below}"]


class Metrics:
    """What a service counts; only the thread of the event loop writes."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(_SECONDS))
        self.rows: Counter[str] = Counter()
        self.batch_jobs = Histogram(_ROWS)
        self.batch_rows = Histogram(_ROWS)
        self.in_progress = 0
        #: What an observer saw of a sample of rows, by name and labels; only its thread writes.
        self.observed: Counter[tuple[str, str]] = Counter()
        self.confidence: defaultdict[str, Histogram] = defaultdict(lambda: Histogram(_CHANCES))

    @property
    def state(self) -> dict[str, Any]:
        """All counts as plain values."""
        return {
            "requests": dict(self.requests),
            "seconds": {route: one.state for route, one in self.seconds.items()},
            "rows": dict(self.rows),
            "batches": (self.batch_jobs.state, self.batch_rows.state),
            "in_progress": self.in_progress,
            "observed": dict(self.observed),
            "confidence": {model: one.state for model, one in self.confidence.items()},
        }

    def merge(self, state: dict[str, Any]) -> None:
        """Add the counts of another process."""
        self.requests.update(state["requests"])
        for route, histogram in state["seconds"].items():
            self.seconds[route].merge(histogram)
        self.rows.update(state["rows"])
        self.batch_jobs.merge(state["batches"][0])
        self.batch_rows.merge(state["batches"][1])
        self.in_progress += state["in_progress"]
        self.observed.update(state["observed"])
        for model, histogram in state["confidence"].items():
            self.confidence[model].merge(histogram)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that is done."""
        self.requests[method, route, status] += 1
        self.seconds[route].add(seconds)

    def batch(self, model: str, n_jobs: int, n_rows: int) -> None:
        """Count a batch."""
        self.rows[model] += n_rows
        self.batch_jobs.add(n_jobs)
        self.batch_rows.add(n_rows)

    def text(self, n_reloaded: int, n_failed: int, versions: dict[str, str]) -> str:
        """All of it for Prometheus."""
        lines = ["# HELP separatrix_requests_total Requests answered.",
                 "# TYPE separatrix_requests_total counter"]  # fmt: skip
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"separatrix_requests_total{{{labels}}} {count}")
        lines += ["# HELP separatrix_request_seconds Time from request to answer.",
                  "# TYPE separatrix_request_seconds histogram"]  # fmt: skip
        for route, histogram in sorted(self.seconds.items()):
            lines += histogram.lines("separatrix_request_seconds", f'route="{route}"')
        lines += ["# HELP separatrix_rows_total Rows predicted.",
                  "# TYPE separatrix_rows_total counter"]  # fmt: skip
        for model, count in sorted(self.rows.items()):
            lines.append(f'separatrix_rows_total{{model="{quoted(model)}"}} {count}')
        for name, histogram, told in (
            ("separatrix_batch_requests", self.batch_jobs, "Requests in a batch."),
            ("separatrix_batch_rows", self.batch_rows, "Rows in a batch."),
        ):
            lines += [f"# HELP {name} {told}", f"# TYPE {name} histogram"]
            lines += histogram.lines(name, "")
        lines += ["# HELP separatrix_requests_in_progress Prediction requests under way.",
                  "# TYPE separatrix_requests_in_progress gauge",
                  f"separatrix_requests_in_progress {self.in_progress}",
                  "# HELP separatrix_reloads_total Reloads of a model file.",
                  "# TYPE separatrix_reloads_total counter",
                  f'separatrix_reloads_total{{result="done"}} {n_reloaded}',
                  f'separatrix_reloads_total{{result="failed"}} {n_failed}',
                  "# HELP separatrix_model_info Models that are served.",
                  "# TYPE separatrix_model_info gauge"]  # fmt: skip
        for name, version in sorted(versions.items()):
            labels = f'model="{quoted(name)}",version="{version}"'
            lines.append(f"separatrix_model_info{{{labels}}} 1")
        return "\n".join([*lines, *self._sampled()]) + "\n"

    def _sampled(self) -> list[str]:
        """Lines of what an observer saw."""
        lines: list[str] = []
        named = ""
        for (name, labels), count in sorted(self.observed.items()):
            if name != named:
                named = name
                kind = "counter" if name.endswith("_total") else "gauge"
                lines += [f"# HELP {name} {_SAMPLED[name]}", f"# TYPE {name} {kind}"]
            lines.append(f"{name}{{{labels}}} {count:.10g}")
        if self.confidence:
            name = "separatrix_sampled_probability"
            lines += [f"# HELP {name} Probabilities of predicted classes.",
                      f"# TYPE {name} histogram"]  # fmt: skip
        for model, histogram in sorted(self.confidence.items()):
            lines += histogram.lines(name, f'model="{quoted(model)}"')
        return lines


def quoted(text: str) -> str:
    """A value of a label."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
