"""How values are written in a file: numbers and their marks, dates, durations, yes and no.

A column is looked at as a whole, value by value, piece by piece: `Evidence` keeps which readings
fit
everything seen so far, and two pieces of evidence join. `reader` then reads single values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "COMPACT_DATES",
    "FLAGS",
    "MISSING",
    "MISSING_AMONG_NUMBERS",
    "Evidence",
    "are_plain",
    "are_texts",
    "look",
    "numbers_of",
    "reader",
]

#: Words that stand for a missing value in a table of text, where nothing else is given.
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "Null")
#: Words that stand for a missing value among numbers, dates and durations, and are words
#: elsewhere: "-" may be a class beside "+", and "None" a kind of garage.
MISSING_AMONG_NUMBERS = (
    "-",
    "--",
    "—",
    "none",
    "None",
    "NONE",
    "n.a.",
    "unknown",
    "Unknown",
    "missing",
    "nil",
)
#: Pairs of words, in any case, that are yes and no.
FLAGS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
#: Most spellings of yes and no that a column of them has.
_FLAG_WORDS = 4
#: Values that are looked at before all of them are.
_GLANCE = 2000
#: Words a value on average from which on strings count as texts, and how many are looked at.
_TEXT_WORDS, _TEXT_SAMPLE = 3, 10_000
#: Digits from which on a whole number is a code: a double holds 15 of them exactly.
_CODE_DIGITS = 16
#: Different dates written as eight digits that are needed to tell them from numbers: of numbers at
#: random 4 % look like dates, so that five do by chance once in ten million columns.
COMPACT_DATES = 5
#: Two-digit years from here on are of the last century, as in POSIX.
_CENTURY = 69

_SIGN = "[-+\u2212]"
_CURRENCY = (
    r"US\$|R\$|[$€£¥₹₽₩₺₪฿₫₴]|USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|INR|CNY|SEK|NOK|DKK|PLN|CZK|BRL|MXN"
)
_DIGIT = re.compile(r"\d", re.ASCII)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d", re.ASCII)
_ENDLESS = frozenset({"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
_MARKED = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>{_SIGN})?\s*(?P<front>{_CURRENCY})?\s*(?P<inner>{_SIGN})?\s*"
    r"(?P<digits>\d+(?:[.,'’ \u00a0\u202f]\d+)*[.,]?|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s*(?P<back>%|‰|°[CF]?|{_CURRENCY}|[A-Za-z]{{1,10}}[²³]?(?:/[A-Za-z]{{1,8}}[²³]?)?)?"
    r"\s*(?P<close>\))?",
    re.ASCII,
)
_DIGITS = {
    point: re.compile(
        rf"(?:(?!0\d)\d+(?:[{point}]\d*)?|[{point}]\d+|(?!0)\d{{1,3}}"
        rf"(?P<group>[{group}'’ \u00a0\u202f])\d{{3}}(?:(?P=group)\d{{3}})*(?:[{point}]\d*)?)",
        re.ASCII,
    )
    for point, group in ((".", ","), (",", "."))
}
_GROUPS = str.maketrans("", "", "'’ \u00a0\u202f")
#: One mark and three digits behind it: a thousand, or three decimals.
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)

_MONTHS = (
    "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,"
    "september sep sept,october oct,november nov,december dec"
)
_MONTH_NUMBERS = {
    name: number for number, names in enumerate(_MONTHS.split(","), 1) for name in names.split()
}
_CLOCK = (
    r"(?:(?:\s*[T,]\s*|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|tues|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?\.?,?\s+)?"
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4}|\d{2})"
_DATES = tuple(
    re.compile(pattern + _CLOCK, re.ASCII | re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?",
        rf"(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<other>\d{{1,2}})(?P=mark){_YEAR}",
        rf"{_WEEKDAY}{_DAY}(?:\s+|-|\.\s*)(?P<named>[a-z]{{3,9}})\.?,?(?:\s+|-){_YEAR}",
        rf"{_WEEKDAY}(?P<named>[a-z]{{3,9}})\.?\s+{_DAY},?\s+(?P<year>\d{{4}})",
    )
)
_ISO = re.compile(r"[12]\d{3}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?", re.ASCII)
_ORDERS = ("ymd", "dmy", "mdy")
_TIMES = (
    re.compile(
        r"(?:(?P<days>\d+) days?,? )?(?P<hours>\d{1,3}):(?P<minutes>[0-5]\d)"
        r"(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?",
        re.ASCII,
    ),
    re.compile(
        r"P(?=\d|T)(?:(?P<days>\d+)D)?"
        r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
        re.ASCII,
    ),
)


@dataclass(frozen=True)
class Evidence:
    """Which readings fit every value of a column that was seen.

    Attributes
    ----------
    some : bool
        Whether there is a value at all.
    plain, whole : bool
        Whether all are plain numbers (1, -2.5, 1e3), and whole ones.
    padded, long : bool
        Whether some whole number has leading zeros, or more digits than a number holds exactly.
    marked : frozenset of str
        The decimal marks, "." and ",", with which all are numbers with thousands, currency, unit,
        percent or parentheses.
    units : frozenset of str
        Their units.
    bare : bool
        Whether a number other than zero has none.
    either : bool
        Whether no number tells which mark is that of decimals, as in 1,234.
    dates : frozenset of str
        The orders of day, month and year in which all are dates: "ymd", "dmy", "mdy".
    compact : bool
        Whether all may be dates of eight digits.
    duration : bool
        Whether all are lengths of time or times of day.
    words : frozenset of str or None
        All values while there are at most four, else None.
    missing : frozenset of str
        The marks of missing values that were met.
    maybe_missing : frozenset of str
        Marks that are missing values among numbers only.
    sample : tuple of str
        The first values that are not blank.
    """

    some: bool = False
    plain: bool = True
    whole: bool = True
    padded: bool = False
    long: bool = False
    marked: frozenset[str] = frozenset(".,")
    units: frozenset[str] = frozenset()
    bare: bool = False
    either: bool = True
    dates: frozenset[str] = frozenset(_ORDERS)
    compact: bool = True
    duration: bool = True
    words: frozenset[str] | None = frozenset()
    missing: frozenset[str] = frozenset()
    maybe_missing: frozenset[str] = frozenset()
    sample: tuple[str, ...] = ()

    def __or__(self, other: Evidence) -> Evidence:
        """The evidence of both pieces together."""
        if not self.some or not other.some:
            full, blank = (self, other) if self.some else (other, self)
            return replace(
                full,
                missing=self.missing | other.missing,
                maybe_missing=self.maybe_missing | other.maybe_missing,
                words=_few(full.words, blank.words),
                sample=self.sample + other.sample if blank.sample else full.sample,
            )
        sample = self.sample
        if len(sample) < _TEXT_SAMPLE:
            sample = (sample + other.sample)[:_TEXT_SAMPLE]
        return Evidence(
            some=True,
            plain=self.plain and other.plain,
            whole=self.whole and other.whole,
            padded=self.padded or other.padded,
            long=self.long or other.long,
            marked=self.marked & other.marked,
            units=self.units | other.units,
            bare=self.bare or other.bare,
            either=self.either and other.either,
            dates=self.dates & other.dates,
            compact=self.compact and other.compact,
            duration=self.duration and other.duration,
            words=_few(self.words, other.words),
            missing=self.missing | other.missing,
            maybe_missing=self.maybe_missing | other.maybe_missing,
            sample=sample,
        )

    @property
    def is_words(self) -> bool:
        """Whether nothing but words fits, whatever is still to come."""
        readings = self.plain or self.marked or self.dates or self.duration
        return self.some and not readings and self.words is None

    @property
    def flag(self) -> tuple[str, str] | None:
        """The pair of words for yes and no, as they are spelled, if the values are these."""
        if self.words is None:
            return None
        lowered = {word.lower(): word for word in sorted(self.words, reverse=True)}
        pair = next((pair for pair in FLAGS if set(lowered) == set(pair)), None)
        if pair is None:
            # One word alone says that much only where it is "true" or "false".
            return FLAGS[0] if lowered and set(lowered) <= set(FLAGS[0]) else None
        once = len(lowered) == len(self.words)
        return (lowered[pair[0]], lowered[pair[1]]) if once else pair

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers, plain or with marks and at most one unit."""
        if not self.some or self.padded or self.long:
            return False
        if self.plain:
            return True
        currency = all(re.fullmatch(_CURRENCY, unit) for unit in self.units)
        return (
            bool(self.marked)
            and len(self.units) < 2
            and (currency or not (self.units and self.bare))
        )

    @property
    def number_form(self) -> str:
        """How the numbers are written, as an example: "1234", "1234.5", "1234,5 kg"."""
        if self.plain:
            return "1234" if self.whole else "1234.5"
        point = "." if "." in self.marked else ","
        return " ".join([f"1234{point}5", *self.units])


def _few(some: frozenset[str] | None, others: frozenset[str] | None) -> frozenset[str] | None:
    if some is None or others is None or len(some | others) > _FLAG_WORDS:
        return None
    return some | others


def are_texts(values: Iterable[str]) -> bool:
    """Whether strings are texts rather than names of categories: what ``"auto"`` goes by.

    They are when they have three words or more on average and more than half of them are distinct,
    by the first ten thousand that are not blank.

    Examples
    --------
    >>> are_texts(["good value for money", "broke after a week", "does what it says"])
    True
    >>> are_texts(["New York City", "New York City", "New York City", "Oslo"])
    False
    """
    seen = list(islice(filter(str.strip, values), _TEXT_SAMPLE))
    if 2 * len(set(seen)) <= len(seen):  # of no values too
        return False
    return sum(len(value.split()) for value in seen) >= _TEXT_WORDS * len(seen)


def look(
    values: Iterable[str],
    missing: Sequence[str] = MISSING,
    sample: Sequence[str] | None = None,
    met: Iterable[str] | None = None,
) -> Evidence:
    """The evidence of some values, each distinct one once is enough.

    Parameters
    ----------
    values : iterable of str
    missing : sequence of str
        Words for no value.
    sample : sequence of str, optional
        The first values of the column in their order, repeated as they come, for texts.
    met : iterable of str, optional
        Words for no value among the values, where that is known.

    Examples
    --------
    >>> look(["$5", "$1,200.50"]).number_form, look(["31/12/2019", "01/02/2020"]).dates
    ('1234.5 $', frozenset({'dmy'}))
    """
    absent, perhaps = set(missing), set(MISSING_AMONG_NUMBERS)
    held: Any = values if isinstance(values, list | np.ndarray) else list(values)
    if sample is None:
        sample = held
    if len(held) > 4 * _GLANCE:
        few = look(list(held[:_GLANCE]), missing, sample)
        if few.is_words:
            # Whatever comes, they are words: only what stands for a missing one is still asked.
            met = set(map(str.strip, held) if met is None else met)
            return replace(
                few,
                missing=frozenset(absent & met),
                maybe_missing=frozenset(perhaps & met - absent),
            )
    distinct = list(dict.fromkeys(held))
    stripped = list(dict.fromkeys(value.strip() for value in distinct))
    there = [value for value in stripped if value not in absent]
    present = [value for value in there if value not in perhaps]
    blank = {value for value in set(sample) if value.strip() in {"", *absent}}
    shown = tuple(islice((value for value in sample if value not in blank), _TEXT_SAMPLE))
    found = Evidence(
        words=frozenset(there) if len(there) <= _FLAG_WORDS else None,
        missing=frozenset(absent.intersection(stripped)),
        maybe_missing=frozenset(perhaps.intersection(there)),
        sample=shown,
    )
    if not present:
        return found
    if not _DIGIT.search(present[0]):
        # No number, date or length of time is without a digit, but for those without an end.
        endless = present[0].lower() in _ENDLESS
        if not endless:
            none: frozenset[str] = frozenset()
            return replace(
                found, some=True, plain=False, whole=False, marked=none, dates=none, compact=False,
                duration=False, either=False,
            )  # fmt: skip
    plain = all(_PLAIN.fullmatch(value) or value.lower() in _ENDLESS for value in present)
    whole = plain and all(map(_WHOLE.fullmatch, present))
    marked, units, bare, either = (
        _look_at_marks(present) if not plain else (frozenset("."), frozenset(), True, False)
    )
    return replace(
        found,
        some=True,
        plain=plain,
        whole=whole,
        padded=plain and any(map(_PADDED.match, present)),
        long=whole and any(len(value.lstrip("+-")) >= _CODE_DIGITS for value in present),
        marked=marked,
        units=units,
        bare=bare,
        either=either,
        dates=_look_at_dates(present),
        compact=whole and all(_is_compact(value) for value in present),
        duration=not plain and all(_seconds(value) is not None for value in present),
    )


def are_plain(values: Iterable[str], missing: Sequence[str]) -> bool:
    """Whether values are plain numbers or missing, none of them a code: a first look.

    Examples
    --------
    >>> are_plain(["1", " 2.5", "-"], [""]), are_plain(["007"], [""]), are_plain(["$5"], [""])
    (True, False, False)
    """
    absent = {*missing, *MISSING_AMONG_NUMBERS}
    for value in map(str.strip, values):
        if value not in absent and (
            not _PLAIN.fullmatch(value) or _PADDED.match(value) or len(value) > _CODE_DIGITS + 8
        ):
            return False
    return True


def _look_at_marks(values: Sequence[str]) -> tuple[frozenset[str], frozenset[str], bool, bool]:
    marked, units, bare, either = {".", ","}, set(), False, True
    for value in values:
        parts = _MARKED.fullmatch(value)
        if parts is None or bool(parts["open"]) != bool(parts["close"]):
            return frozenset(), frozenset(), False, False
        digits = parts["digits"]
        marked = {point for point in marked if _DIGITS[point].fullmatch(digits)}
        unit = parts["front"] or parts["back"]
        if unit is not None and (parts["front"] is None or parts["back"] is None):
            units.add(unit)
        elif unit is not None or digits.strip("0.,"):
            bare = True
            if unit is not None:
                return frozenset(), frozenset(), False, False
        if not marked or len(units) > 1:
            return frozenset(), frozenset(units), bare, False
        either = either and (digits.isdigit() or bool(_EITHER.fullmatch(digits)))
    return frozenset(marked), frozenset(units), bare, either and len(marked) == 2


def _look_at_dates(values: Sequence[str]) -> frozenset[str]:
    if all(map(_ISO.fullmatch, values)):
        try:
            np.array(values, dtype="datetime64[us]")
        except ValueError:
            return frozenset()
        return frozenset({"ymd"})
    orders = frozenset(_ORDERS)
    for value in values:
        orders = frozenset(order for order in orders if _date(value, order) is not None)
        if not orders:
            break
    return orders


def _is_compact(value: str) -> bool:
    return len(value) == 8 and value[:2] in ("19", "20") and _compact(value) is not None


def _compact(value: str) -> datetime | None:
    try:
        return datetime(int(value[:4]), int(value[4:6]), int(value[6:]))
    except ValueError:
        return None


def _date(value: str, order: str) -> datetime | None:
    """The moment, in UTC where a zone is told; None for what is no date in this order."""
    found = next((match for match in (p.fullmatch(value) for p in _DATES) if match), None)
    if found is None:
        return _compact(value) if order == "ymd" and _is_compact(value) else None
    held = found.groupdict()
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    if "month" in held:
        if order != "ymd":
            return None
        month, day = int(found["month"]), int(found["day"] or 1)
    elif "first" in held:
        first, other = int(found["first"]), int(found["other"])
        if order == "ymd":
            return None
        month, day = (other, first) if order == "dmy" else (first, other)
    else:
        month, day = _MONTH_NUMBERS.get(found["named"].lower(), 0), int(found["day"])
    hour, minute = int(found["hour"] or 0), int(found["minute"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    part = (found["part"] or "0")[:6].ljust(6, "0")
    try:
        moment = datetime(year, month, day, hour, minute, int(found["second"] or 0), int(part))
    except ValueError:
        return None
    zone = found["zone"]
    if zone and zone[0] in "+-":
        away = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        if away >= timedelta(days=1):
            return None
        moved = moment.replace(tzinfo=timezone(away if zone[0] == "+" else -away))
        try:
            return moved.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            return None
    return moment


def _seconds(value: str) -> float | None:
    for pattern in _TIMES:
        found = pattern.fullmatch(value)
        if found is not None:
            sizes = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}
            return sum(float(found[name] or 0) * size for name, size in sizes.items())
    return None


def numbers_of(value: str, form: str) -> float:
    """The number that a value spells; ValueError for none.

    Examples
    --------
    >>> numbers_of("(1.234,50 €)", "1234,5 €"), numbers_of("20%", "1234.5 %")
    (-1234.5, 20.0)
    """
    value = value.strip()
    # A comma of decimals makes of 1.234 a thousand.
    grouped = form[4:5] == "," and "." in value
    if not grouped and (_PLAIN.fullmatch(value) or value.lower() in _ENDLESS):
        return float(value)
    parts = _MARKED.fullmatch(value)
    point = form[4:5] or "."
    if parts is None or bool(parts["open"]) != bool(parts["close"]):
        raise ValueError(value)
    unit = parts["front"] or parts["back"]
    if (parts["front"] and parts["back"]) or (unit and unit != form[7:]):
        raise ValueError(value)
    if not _DIGITS[point].fullmatch(parts["digits"]):
        raise ValueError(value)
    digits = parts["digits"].translate(_GROUPS).replace("," if point == "." else ".", "")
    number = float(digits.replace(",", ".") + (parts["power"] or ""))
    minus = [parts["sign"], parts["inner"]]
    negative = sum(sign in ("-", "\u2212") for sign in minus) + bool(parts["open"])
    return -number if negative % 2 else number


def _dates_of(order: str) -> Callable[[str], np.datetime64]:
    def read(value: str) -> np.datetime64:
        moment = _date(value.strip(), order)
        if moment is None:
            raise ValueError(value)
        return np.datetime64(moment, "us")

    return read


def _duration(value: str) -> float:
    seconds = _seconds(value.strip())
    if seconds is None:
        raise ValueError(value)
    return seconds


def _flag(value: str) -> bool:
    # All pairs are understood, whichever the column has: no word is yes in one and no in another.
    word = value.strip().lower()
    if word == "1" or any(word == yes for yes, _ in FLAGS):
        return True
    if word == "0" or any(word == no for _, no in FLAGS):
        return False
    raise ValueError(value)


def reader(kind: str, form: str) -> tuple[Callable[[str], Any], Any, Any]:
    """How a value of a kind is read, what stands for a missing one, and the dtype of a column.

    Examples
    --------
    >>> read, _, dtype = reader("date", "dmy")
    >>> read("31/12/2019"), dtype
    (np.datetime64('2019-12-31T00:00:00.000000'), 'datetime64[us]')
    """
    if kind == "number":
        return (lambda value: numbers_of(value, form)), math.nan, np.float64
    if kind == "date":
        return _dates_of(form or "ymd"), np.datetime64("NaT", "us"), "datetime64[us]"
    if kind == "duration":
        return _duration, math.nan, np.float64
    if kind == "flag":
        return _flag, None, object
    return (lambda value: value), None, object


def iso_dates(values: Sequence[str]) -> npt.NDArray[np.datetime64] | None:
    """Dates that are all written as ISO 8601 without zone, at once; None where one is not."""
    if not all(map(_ISO.fullmatch, values)):
        return None
    try:
        return np.array(values, dtype="datetime64[us]")
    except ValueError:
        return None
