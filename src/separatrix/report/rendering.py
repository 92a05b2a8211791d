"""From a content to one HTML file."""

from __future__ import annotations

import os
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from separatrix.atomic import replacing
from separatrix.errors import MissingPackageError
from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw.elements import Drawing

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["check_available", "render", "write"]

# Characters that HTML forbids, and halves of pairs that UTF-8 cannot hold.
_FORBIDDEN = dict.fromkeys(
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)],
    "\N{REPLACEMENT CHARACTER}",
)


def render(content: Content) -> str:
    """Return the report as one HTML page that needs nothing but itself.

    Equal contents give equal pages. Everything that comes from the data is escaped, and the page
    forbids itself scripts and the network.

    Parameters
    ----------
    content : Content
        What the report shows.

    Returns
    -------
    str
        The page.

    Raises
    ------
    MissingPackageError
        If jinja2 is not installed.

    Examples
    --------
    >>> from separatrix.report import Content, DataSummary, LeaderboardRow
    >>> page = render(
    ...     Content(
    ...         title="iris",
    ...         verdict="linear_svm is best.",
    ...         data=DataSummary("iris", "classification into 3 classes"),
    ...         leaderboard=(LeaderboardRow("linear_svm", "C = 1", 0.9667),),
    ...     )
    ... )
    >>> "96.67" in page
    True
    """
    environment = _environment()
    source, _, _ = environment.loader.get_source(environment, "style.css")  # type: ignore[union-attr]
    sections = []
    for part in content.sections():
        template = environment.from_string('{% import "macros.html" as m %}\n' + part.template)
        body = template.render(part=part, view=part.view(content), content=content)
        sections.append((part.section, Drawing(body)))
    page = environment.get_template("report.html").render(
        content=content, sections=sections, facts=content.facts(), style=Drawing(source)
    )
    return page.translate(_FORBIDDEN)


def write(content: Content, path: str | os.PathLike[str]) -> None:
    """Write the report to `path`, whole or not at all.

    Parameters
    ----------
    content : Content
        What the report shows.
    path : path-like
        The HTML file; one that is there is replaced.

    Raises
    ------
    MissingPackageError
        If jinja2 is not installed.
    OSError
        If the file cannot be written; one that was there stays as it was.
    """
    page = render(content).encode("utf-8")
    with replacing(path) as file:
        file.write(page)


def _soft(text: str) -> Drawing:
    """A name that may be broken after an underscore, where the line is short."""
    return Drawing(escape(text).replace("_", "_<wbr>"))


def check_available() -> None:
    """Raise MissingPackageError if reports cannot be made here."""
    _environment()


@cache
def _environment() -> Environment:
    try:
        import jinja2
    except ImportError as error:
        raise MissingPackageError(
            "Reports need jinja2; install it with: pip install 'separatrix[report]'"
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("separatrix.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clip": formats.clip,
        "count": formats.count,
        "counted": formats.counted,
        "sentence": formats.sentence,
        "soft": _soft,
    }
    return environment
