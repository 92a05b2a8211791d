"""Peak memory of this process over a span of its life."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def reset_peak() -> float:
    """Reset the kernel's high-water mark where it can be reset; return the memory in use (MB).

    ``ru_maxrss`` cannot be reset and on Linux is inherited from the parent across exec, so
    ``/proc`` goes first.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return peak_mb()
    return _status("VmRSS")


def peak_mb() -> float:
    """The largest memory since the last reset, or since the start where there was none (MB)."""
    try:
        return _status("VmHWM")
    except OSError:
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise OSError(f"no {field} in /proc/self/status")
