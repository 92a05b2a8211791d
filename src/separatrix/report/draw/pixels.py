"""Small images as PNG inside the page (W3C Recommendation of 2003, color type 6)."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from separatrix.report.parts.part import Array

__all__ = ["ink", "signed"]

#: An image larger than this along one side is thinned out: it is shown at the size of a stamp.
LARGEST = 32

# The hues of "plus" and "minus" in the style sheet, at a lightness that reads on white and black.
PLUS, MINUS = (47, 125, 209), (217, 111, 40)


def ink(image: Array) -> str:
    """An image as ink on paper, darkest where the values are highest, as a data address."""
    values = _small(image)
    low, high = float(values.min()), float(values.max())
    shade = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return _png(np.zeros((*values.shape, 3), dtype=np.uint8), shade)


def signed(image: Array) -> str:
    """An image of weights: one hue for positive values, one for negative, as a data address."""
    values = _small(image)
    largest = float(np.abs(values).max()) or 1.0
    colors = np.where(values[:, :, None] >= 0, PLUS, MINUS).astype(np.uint8)
    return _png(colors, np.abs(values) / largest)


def _small(image: Array) -> Array:
    values = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0.0, neginf=0.0)
    stride = -(-max(values.shape) // LARGEST)
    return values[::stride, ::stride]


def _png(colors: Array, opacity: Array) -> str:
    height, width = opacity.shape
    # In 32 steps: more are not seen, and fewer values pack better.
    shades = np.rint(np.rint(31 * opacity) * (255 / 31)).astype(np.uint8)
    pixels = np.dstack([colors, shades])
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, 4 * width)])
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ):
        data += struct.pack(">I", len(body)) + name + body
        data += struct.pack(">I", zlib.crc32(name + body))
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")
