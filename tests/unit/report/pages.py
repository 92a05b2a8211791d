"""A page taken apart by the standard library's parser: tags, texts, tables."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "wbr", "input", "hr"}


class Page(HTMLParser):
    """The texts, attributes and tables of a page; raises where a tag is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._open: list[str] = []
        self._region = ""
        self._cell: list[str] | None = None
        self._section = ""
        self.sections: dict[str, str] = {}
        self.feed(html)
        self.close()
        if self._open:
            raise ValueError(f"not closed: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append((tag, values))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "section":
            self._section = values["id"] or ""
            self.sections[self._section] = ""
        if values.get("role") == "region":
            self._region = values["aria-label"] or ""
            self.tables[self._region] = []
        if tag == "tr" and self._region:
            self.tables[self._region].append([])
        if tag in ("td", "th") and self._region:
            self._cell = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            raise ValueError(f"</{tag}> closes nothing, at {self.getpos()}")
        if tag in ("td", "th") and self._cell is not None:
            self.tables[self._region][-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        if tag == "table":
            self._region = ""

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.texts.append(data)
        if self._cell is not None:
            self._cell.append(data)
        if self._section:
            self.sections[self._section] += data

    @property
    def text(self) -> str:
        """All text, with plain spaces."""
        return " ".join("".join(self.texts).replace("\u202f", " ").split())

    def row(self, table: str, first: str) -> list[str]:
        """The row of a table in which a cell starts with `first`."""
        return next(
            row for row in self.tables[table] if any(cell.startswith(first) for cell in row[:2])
        )
