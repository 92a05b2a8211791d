"""SVG elements as text: attributes in the order given, numbers short, values escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["Drawing", "decoration", "element", "number", "picture"]


class Drawing(str):
    """Markup that is finished: a template shows it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup itself (the protocol that autoescaping asks for)."""
        return str(self)


def number(value: float) -> str:
    """Write a coordinate with one decimal at most.

    Examples
    --------
    >>> number(3.14159), number(2.0), number(-0.01)
    ('3.1', '2', '0')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: object) -> str:
    """One element; ``class_`` means class, ``stroke_width`` stroke-width; None is left out.

    Children are taken as they are, so text goes through `html.escape` first.

    Examples
    --------
    >>> element("rect", x=1.25, class_="cell", rx=None)
    '<rect x="1.2" class="cell"/>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        shown = number(value) if isinstance(value, float) else escape(str(value))
        key = key.rstrip("_")
        parts.append(f'{key if key in _CAMEL else key.replace("_", "-")}="{shown}"')
    opening = " ".join(parts)
    return f"<{opening}>{''.join(children)}</{name}>" if children else f"<{opening}/>"


_CAMEL = frozenset({"viewBox", "preserveAspectRatio"})


def picture(label: str, width: float, height: float, css: str, children: Iterable[str]) -> Drawing:
    """A drawing that stands for itself, with `label` for those who do not see it."""
    return Drawing(
        element(
            "svg",
            *children,
            viewBox=f"0 0 {number(width)} {number(height)}",
            role="img",
            aria_label=label,
            class_=css,
        )
    )


def decoration(width: float, height: float, css: str, children: Iterable[str]) -> Drawing:
    """A drawing that repeats a number beside it, stretched to its place and hidden from readers."""
    return Drawing(
        element(
            "svg",
            *children,
            viewBox=f"0 0 {number(width)} {number(height)}",
            preserveAspectRatio="none",
            aria_hidden="true",
            class_=css,
        )
    )
