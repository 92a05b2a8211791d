"""Saved models as a service: prediction over HTTP, a page to try them, and a client.

Names are imported on first use, so that the client needs none of the server's packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.lazy import imported

if TYPE_CHECKING:
    from separatrix.serve.app import create_app
    from separatrix.serve.client import Client, ServiceError
    from separatrix.serve.settings import Settings

__all__ = ["Client", "ServiceError", "Settings", "create_app"]

_HOMES = {"Client": "client", "ServiceError": "client", "Settings": "settings", "create_app": "app"}


def __getattr__(name: str) -> Any:
    return imported(__name__, _HOMES, name)
