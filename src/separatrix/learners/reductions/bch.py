"""Words of primitive binary BCH codes (Bose & Ray-Chaudhuri 1960, Hocquenghem 1959).

Polynomials over the field of two elements are Python integers, bit i the coefficient of x^i.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError

__all__ = ["bch_words"]

#: Primitive polynomials of degree m, from tables.
_PRIMITIVE = {
    2: 0b111,
    3: 0b1011,
    4: 0b10011,
    5: 0b100101,
    6: 0b1000011,
    7: 0b10001001,
    8: 0b100011101,
    9: 0b1000010001,
    10: 0b10000001001,
}
#: Words that are listed at most.
_MOST_WORDS = 1 << 14


def bch_words(length: int, n_words: int) -> npt.NDArray[np.uint8]:
    """Words of the BCH code of length 2^m - 1 >= `length` with the largest distance.

    Parameters
    ----------
    length : int
        Least number of columns.
    n_words : int
        Words that the code must have at least, besides the two constant ones.

    Returns
    -------
    ndarray of shape (words, 2^m - 1)
        Its words of 0 and 1, but for the constant ones; the first 16,384 where there are more.

    Examples
    --------
    >>> words = bch_words(15, 16)
    >>> words.shape, int(min((a != b).sum() for a in words for b in words if (a != b).any()))
    ((30, 15), 7)
    """
    m = next((m for m in _PRIMITIVE if 2**m - 1 >= length and 2**m - 1 > n_words.bit_length()), 0)
    if not m:
        raise ParameterError(f"BCH codes here have at most 1023 columns, requested {length}")
    n = 2**m - 1
    generators = _generators(m)
    # The larger the distance, the fewer the words.
    for generator in reversed(generators):
        dimension = n - generator.bit_length() + 1
        if 2 ** min(dimension, 60) >= n_words + 2:
            break
    else:
        raise ParameterError(f"there is no BCH code of length {n} with {n_words} words")
    count = min(2**dimension, _MOST_WORDS)
    words = [_times(message, generator) for message in range(count)]
    bits = np.array([[word >> place & 1 for place in range(n)] for word in words], dtype=np.uint8)
    constant = (bits == bits[:, :1]).all(axis=1)
    return np.asarray(bits[~constant])


def _generators(m: int) -> list[int]:
    """Generator polynomials of rising designed distance: products of minimal polynomials."""
    n = 2**m - 1
    powers = [1]
    for _ in range(n - 1):
        power = powers[-1] << 1
        powers.append(power ^ _PRIMITIVE[m] if power >> m else power)
    logarithm = {power: exponent for exponent, power in enumerate(powers)}
    generators, generator, used = [], 1, set()
    for root in range(1, n):
        if root in used:
            continue
        coset = {root * 2**i % n for i in range(m)}
        used |= coset
        generator = _times(generator, _minimal_polynomial(coset, powers, logarithm))
        if n - generator.bit_length() + 1 < 1:
            break
        generators.append(generator)
    return generators


def _minimal_polynomial(coset: set[int], powers: list[int], logarithm: dict[int, int]) -> int:
    """The product of (x - a^i) over a coset of exponents, whose coefficients are 0 and 1."""
    n = len(powers)
    coefficients = [1]
    for exponent in coset:
        root = powers[exponent]
        shifted = [0, *coefficients]
        for place, value in enumerate(coefficients):
            if value:
                product = powers[(logarithm[value] + logarithm[root]) % n]
                shifted[place] ^= product
        coefficients = shifted
    return sum(1 << place for place, value in enumerate(coefficients) if value)


def _times(a: int, b: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = a << 1, b >> 1
    return product
