"""Check a built site: every link and anchor leads somewhere, and nothing is fetched from elsewhere.

python tools/check_site.py build/site
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself; links that a reader follows are not among them.
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
}
#: Relations of <link> that are read but not fetched.
NOT_FETCHED = {"canonical", "author", "search", "index", "next", "prev", "license"}
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)")


class Page(HTMLParser):
    """Anchors, links and fetched files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names and what it points to."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        for name in ("href", "src"):
            if name not in values:
                continue
            passive = tag == "link" and values.get("rel", "") in NOT_FETCHED
            if (tag, name) in FETCHED and not passive:
                self.fetched.append(values[name])
            else:
                self.links.append(values[name])


def read(path: Path) -> Page:
    """Read one page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_remote(target: str) -> bool:
    """Whether a target lies on another machine.

    Examples
    --------
    >>> [is_remote(link) for link in ("https://a.org/x", "//a.org/x", "x.html#y", "data:,")]
    [True, True, False, False]
    """
    parts = urlsplit(target)
    return parts.scheme in ("http", "https") or (not parts.scheme and bool(parts.netloc))


def faults(site: Path) -> list[str]:
    """Say what is wrong with the site, one sentence for each fault."""
    # Files of the theme that look like pages are templates.
    paths = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): read(path) for path in paths}
    if not pages:
        return [f"{site} holds no pages"]
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in page.fetched:
            if is_remote(target):
                found.append(f"{name}: fetches {target}")
        for target in page.links + page.fetched:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if there.is_dir():
                there /= "index.html"
            if not there.exists():
                found.append(f"{name}: {target} is not there")
                continue
            anchors = pages[there].anchors if there in pages else None
            if parts.fragment and anchors is not None and unquote(parts.fragment) not in anchors:
                found.append(f"{name}: {target} has no such anchor")
    for style in sorted(site.rglob("*.css")):
        for target in IN_STYLE.findall(style.read_text(encoding="utf-8")):
            found.append(f"{style.relative_to(site)}: fetches {target}")
    return found


def main(arguments: list[str]) -> int:
    """Check the site named on the command line."""
    if len(arguments) != 1:
        print(f"usage: {Path(__file__).name} SITE", file=sys.stderr)
        return 2
    site = Path(arguments[0])
    found = faults(site)
    for fault in found:
        print(fault)
    n_pages = sum(1 for _ in site.rglob("*.html"))
    print(f"{n_pages} pages checked, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
