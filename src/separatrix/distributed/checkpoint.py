"""The state of a fit, written every few passes to a folder or an fsspec URL."""

from __future__ import annotations

import io
import json
import os
import posixpath
import secrets
from typing import Any
from zipfile import BadZipFile

import numpy as np

from separatrix.atomic import replacing
from separatrix.errors import DataError, MissingPackageError

__all__ = ["Checkpoint"]


class Checkpoint:
    """A file with the arrays of a fit and a description of its problem.

    A file is written under a temporary name and then moved, so that whoever reads finds the old
    state or the new one. The state of another problem is refused.

    Parameters
    ----------
    place : str or path
        A folder, or an fsspec URL such as ``s3://bucket/run``; made where it is missing.
    name : str
        Name of the file without its suffix.
    problem : dict of str to str
        What the state belongs to.
    every : int
        Passes from one writing to the next.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     state = Checkpoint(folder, "fit", {"C": "1.0"})
    ...     state.save({"w": np.array([1.0, 2.0]), "n_passes": np.array(3.0)})
    ...     state.load()["w"]
    array([1., 2.])
    """

    def __init__(
        self, place: str | os.PathLike[str], name: str, problem: dict[str, str], every: int = 10
    ) -> None:
        self.place = os.fspath(place)
        self.problem = problem
        self.every = every
        self._file = f"{name}.npz"
        self._last = -1

    def due(self, n_passes: float) -> bool:
        """Whether `every` passes went by since the last writing."""
        mark = int(n_passes) // self.every
        if mark <= self._last:
            return False
        first = self._last < 0
        self._last = mark
        return not first or mark > 0

    def save(self, state: dict[str, Any]) -> None:
        """Write the arrays."""
        buffer = io.BytesIO()
        arrays = {name: np.asarray(value) for name, value in state.items()}
        np.savez(buffer, problem=np.array(json.dumps(self.problem)), **arrays)  # type: ignore[arg-type]
        if "://" not in self.place:
            os.makedirs(self.place, exist_ok=True)
            with replacing(os.path.join(self.place, self._file)) as file:
                file.write(buffer.getbuffer())
            return
        system, folder = self._remote()
        system.makedirs(folder, exist_ok=True)
        target = posixpath.join(folder, self._file)
        temporary = f"{target}.{secrets.token_hex(8)}.tmp"
        system.pipe_file(temporary, buffer.getvalue())
        system.mv(temporary, target)

    def load(self) -> dict[str, Any] | None:
        """The arrays of the last writing, or None where there is none."""
        where = f"{self.place}/{self._file}"
        try:
            if "://" not in self.place:
                with open(os.path.join(self.place, self._file), "rb") as file:
                    content = file.read()
            else:
                system, folder = self._remote()
                content = system.cat_file(posixpath.join(folder, self._file))
        except FileNotFoundError:
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as found:
                state = {name: found[name] for name in found.files}
            problem = json.loads(str(state.pop("problem")))
        except (BadZipFile, KeyError, ValueError, OSError) as error:
            raise DataError(f"{where} is no checkpoint ({error}); delete it") from None
        for name in sorted(problem.keys() | self.problem.keys()):
            there, here = problem.get(name), self.problem.get(name)
            if there != here:
                raise DataError(
                    f"{where} belongs to another fit: {name} is {there} there and {here} here; "
                    "delete it or name another folder"
                )
        self._last = int(state["n_passes"]) // self.every
        return state

    def _remote(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingPackageError(
                f"{self.place} needs fsspec: pip install 'separatrix[dask]'"
            ) from None
        system, folder = url_to_fs(self.place)
        return system, str(folder)
