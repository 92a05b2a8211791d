"""The models of a service, exchanged one by one without a gap."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path

from separatrix.errors import ParameterError
from separatrix.models import Model
from separatrix.models import open as open_model
from separatrix.serve.problems import Problem
from separatrix.serve.settings import Settings

__all__ = ["ModelStore", "Reloads"]

log = logging.getLogger("separatrix.serve")

_Stamp = tuple[int, int, int]
#: Reloads that were done, that failed, and what is wrong with files, by name.
Reloads = tuple[int, int, dict[str, str]]


class ModelStore:
    """Models by name; a request keeps the model that it began with.

    Parameters
    ----------
    paths : iterable of path
        Model files; each is served under the name of its file without the ending.
    settings : Settings

    Raises
    ------
    ParameterError
        Two files would have the same name, or there is none.
    ModelFileError
        A file cannot be served.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]], settings: Settings) -> None:
        self.settings = settings
        self._paths: dict[str, Path] = {}
        for path in map(Path, paths):
            if path.stem in self._paths:
                told = f"{self._paths[path.stem]} and {path}"
                raise ParameterError(f"{told} would both be named {path.stem!r}; rename one")
            self._paths[path.stem] = path
        if not self._paths:
            raise ParameterError("there is no model to serve")
        #: By the name of a model that is served, the one that shadows it.
        self._shadows = self._shadowed(map(Path, settings.shadow))
        self._stamps = {name: _stamp(path) for name, path in self._paths.items()}
        self._models = {name: _opened(path) for name, path in self._paths.items()}
        self._busy = threading.Lock()
        #: Reloads that put a new model in place, that failed; and what was last wrong, by name.
        self.n_reloaded, self.n_failed = 0, 0
        self.complaints: dict[str, str] = {}

    def _shadowed(self, paths: Iterable[Path]) -> dict[str, str]:
        served, found = list(self._paths), {}
        for path in paths:
            name = served[0] if len(served) == 1 else path.stem
            if name not in served or name in found:
                known = ", ".join(served)
                raise ParameterError(f"{path} shadows none of the models, or one twice: {known}")
            found[name] = f"{name} (shadow)"
            self._paths[found[name]] = path
        return found

    def reloads(self) -> Reloads:
        """What became of reloads."""
        return self.n_reloaded, self.n_failed, dict(self.complaints)

    @property
    def models(self) -> dict[str, Model]:
        """The models of this moment that are served, by name."""
        shadows = self._shadows.values()
        return {name: model for name, model in self._models.items() if name not in shadows}

    def shadow_of(self, name: str) -> Model | None:
        """The model whose predictions are compared with those of a served one."""
        return self._models.get(self._shadows.get(name, ""))

    def get(self, name: str | None) -> Model:
        """A model by its name; the only one without.

        Raises
        ------
        Problem
            There is no such model, or there are several.
        """
        models = self.models
        if name is None:
            if len(models) == 1:
                return next(iter(models.values()))
            known = ", ".join(models)
            raise Problem("invalid", f"is needed: there are the models {known}", "model")
        if name not in models:
            known = ", ".join(models)
            raise Problem("unknown_model", f"there is no such model; there are: {known}", "model")
        return models[name]

    def reload(self, only_changed: bool = False) -> list[str]:
        """Load the files again; a broken one leaves its model in place, and is told in the log.

        Parameters
        ----------
        only_changed : bool
            Leave out files whose time, size and number are those of the last look.

        Returns
        -------
        list of str
            Names of the models that were exchanged.
        """
        done = []
        with self._busy:
            for name, path in self._paths.items():
                stamp = _stamp(path)
                if only_changed and stamp == self._stamps[name]:
                    continue
                self._stamps[name] = stamp
                try:
                    model = _opened(path)
                except Exception as error:  # whatever a file can cause, the old model answers
                    self.n_failed += 1
                    self.complaints[name] = str(error)
                    log.error("reload failed, the old model %s stays: %s", name, error)
                    continue
                # One assignment: readers see the old models or the new ones.
                self._models = {**self._models, name: model}
                self.n_reloaded += 1
                self.complaints.pop(name, None)
                log.info("reloaded %s, version %s", name, model.version)
                done.append(name)
        return done


def _opened(path: Path) -> Model:
    """A model whose every byte was checked, and which predicts an example."""
    model = open_model(path, verify=True)
    model.check()
    return model


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
