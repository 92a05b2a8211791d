"""Numbers and texts as they are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.metrics import Metric

__all__ = [
    "DASH",
    "aligned",
    "clip",
    "count",
    "counted",
    "decimal",
    "duration",
    "heading",
    "percent",
    "probability",
    "scaled",
    "scaled_array",
    "scientific",
    "score",
    "sentence",
    "setting",
    "short",
    "times",
]

DASH = "–"
_SPACE = "\u202f"  # narrow, does not break


def decimal(value: float, digits: int = 2) -> str:
    """A number with fixed digits after the point, or a dash.

    Examples
    --------
    >>> decimal(-1234.5, 1), decimal(float("nan")), decimal(-0.001)
    ('−1,234.5', '–', '0.00')
    """
    if not math.isfinite(value):
        return DASH if math.isnan(value) else ("∞" if value > 0 else "−∞")
    text = f"{value:,.{digits}f}"
    if text.startswith("-"):
        text = "−" + text[1:] if text.strip("-0.,") else text[1:]
    return text


def short(value: float, significant: int = 3) -> str:
    """A number with some significant digits, for running text.

    Examples
    --------
    >>> short(0.012345), short(123456.0), short(2.5e-7)
    ('0.0123', '123,456', '2.5e−07')
    """
    if not math.isfinite(value) or value == 0:
        return decimal(value, 0)
    size = math.floor(math.log10(abs(value)))
    if size >= 15 or size < -4:
        return scientific(value)
    return decimal(value, max(0, significant - 1 - size))


def setting(value: float, significant: int = 6) -> str:
    """A value that someone chose or measured, with no more digits than it has.

    Examples
    --------
    >>> setting(4.0), setting(0.01), setting(1e-7), setting(12345.678, 4)
    ('4', '0.01', '1.0e−07', '12,346')
    """
    text = short(value, significant)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def scientific(value: float) -> str:
    """A number in powers of ten, or a dash.

    Examples
    --------
    >>> scientific(1.25e-7)
    '1.2e−07'
    """
    return f"{value:.1e}".replace("-", "−") if math.isfinite(value) else decimal(value)


def aligned(values: Iterable[float], significant: int = 3) -> list[str]:
    """The cells of a column: the same digits after the point, as many as the smaller ones need.

    Examples
    --------
    >>> aligned([0.0512, 1.5, float("nan")])
    ['0.05', '1.50', '–']
    """
    numbers = [float(value) for value in values]
    sizes = [abs(value) for value in numbers if math.isfinite(value) and value]
    top = math.floor(math.log10(max(sizes))) if sizes else 0
    return [decimal(value, min(max(significant - 1 - top, 0), 6)) for value in numbers]


def percent(share: float, digits: int = 1) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.97222).replace(_SPACE, " ")
    '97.2 %'
    """
    return decimal(100 * share, digits) + (f"{_SPACE}%" if math.isfinite(share) else "")


def probability(value: float) -> str:
    """A probability in percent that never claims to be certain.

    Examples
    --------
    >>> [probability(p).replace(_SPACE, " ") for p in (0.612, 0.9981, 0.99999, 0.0)]
    ['61 %', '99.8 %', '> 99.9 %', '< 0.1 %']
    """
    if value > 0.9995:
        return f"> 99.9{_SPACE}%"
    if value < 0.0005:
        return f"< 0.1{_SPACE}%"
    return percent(value, 0 if 0.01 <= value <= 0.99 else 1)


def count(number: float) -> str:
    """A whole number with its thousands apart.

    Examples
    --------
    >>> count(20000)
    '20,000'
    """
    return decimal(number, 0)


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "class", "classes"), counted(1000, "row")
    ('1 class', '1,000 rows')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def times(seconds: Iterable[float]) -> list[str]:
    """The cells of a column of seconds, down to milliseconds where all are short.

    Examples
    --------
    >>> times([0.31, 0.0021]), times([12.5, 0.31]), times([300.0, 0.31])
    (['0.310', '0.002'], ['12.50', '0.31'], ['300.0', '0.3'])
    """
    cells = [float(value) for value in seconds]
    longest = max((value for value in cells if math.isfinite(value)), default=0.0)
    digits = 3 if longest < 10 else 2 if longest < 100 else 1
    return [decimal(value, digits) for value in cells]


def duration(seconds: float) -> str:
    """A time in the unit that fits.

    Examples
    --------
    >>> [duration(s).replace(_SPACE, " ") for s in (0.0042, 3.14159, 200.0, 7300.0)]
    ['4.2 ms', '3.1 s', '3 min 20 s', '2 h 1 min']
    """
    if not math.isfinite(seconds):
        return DASH
    if seconds < 1:
        return f"{decimal(1000 * seconds, 1)}{_SPACE}ms"
    if seconds < 60:
        return f"{decimal(seconds, 1)}{_SPACE}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{_SPACE}min" + (f" {rest}{_SPACE}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{_SPACE}h" + (f" {minutes}{_SPACE}min" if minutes else "")


def score(value: float, metric: Metric, *, unit: bool = True) -> str:
    """A score in the unit of its metric, which tables name in their heading.

    Examples
    --------
    >>> share, length = Metric("a", "accuracy", percent=True), Metric("r", "RMSE", unit="km")
    >>> score(0.97222, share).replace(_SPACE, " "), score(0.97222, share, unit=False)
    ('97.22 %', '97.22')
    >>> score(12.5, length).replace(_SPACE, " ")
    '12.5000 km'
    """
    text = decimal(scaled(value, metric), metric.decimals)
    mark = "%" if metric.percent else metric.unit
    return f"{text}{_SPACE}{mark}" if unit and mark and math.isfinite(value) else text


def scaled(value: float, metric: Metric) -> float:
    """A score as the number that is shown."""
    return 100 * value if metric.percent else value


def scaled_array(values: npt.NDArray[Any], metric: Metric) -> npt.NDArray[Any]:
    """Scores as the numbers that are shown."""
    return np.asarray(values, dtype=np.float64) * (100.0 if metric.percent else 1.0)


def heading(metric: Metric) -> str:
    """Name of a score with its unit.

    Examples
    --------
    >>> heading(Metric("a", "accuracy", percent=True))
    'accuracy, %'
    """
    mark = "%" if metric.percent else metric.unit
    return f"{metric.title}, {mark}" if mark else metric.title


def sentence(text: str) -> str:
    """A text that begins with a capital and ends with a point.

    Examples
    --------
    >>> sentence("per unit of the feature"), sentence("'class' holds 2 classes.")
    ('Per unit of the feature.', "'class' holds 2 classes.")
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "…")) else ".")


def clip(text: str, length: int) -> str:
    """A text of at most `length` characters, the end left out if need be.

    Examples
    --------
    >>> clip("separatrix", 6)
    'separ…'
    """
    text = str(text)
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
