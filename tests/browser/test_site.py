"""The site that `make docs` builds fits with any letters; `make soak` builds it before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import WIDTHS, Browser

SITE = Path(__file__).parents[2] / "build" / "site"

# The formulas are set.
READY = "!document.querySelector('.math') || document.querySelector('mjx-container')"


@pytest.mark.slow
def test_the_site_fits_with_any_letters(lettered: Browser) -> None:
    pages = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    if not pages:
        pytest.skip(f"{SITE} is not built: make docs")
    found = {}
    for path in pages:
        lettered.open(path.as_uri(), width=WIDTHS[0])
        lettered.wait(READY)
        faults = lettered.misfits()
        if faults:
            found[str(path.relative_to(SITE))] = faults
    assert found == {}
