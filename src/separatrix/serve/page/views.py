"""Routes of the page."""
from __future__ import annotations
from typing import Any
from fastapi import FastAPI

def add_page(app: FastAPI, store: Any, settings: Any) -> None:
    """Add."""
