"""Letters of the tests' own choice: a page must fit whatever is installed where it is read.

Each set of fonts is a folder with nothing else in it and a configuration of fontconfig that names
only this folder; a browser started with it (`FONTCONFIG_FILE`) knows no other fonts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from fontTools.ttLib import TTFont

HOME = Path("/usr/share/fonts/truetype")
#: How much wider than DejaVu Sans, itself the widest of the usual ones, the stretched letters are.
STRETCH = 1.3

CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <cachedir>{cache}</cachedir>
  {rules}
  <match target="pattern">
    <edit name="family" mode="append_last"><string>{sans}</string></edit>
  </match>
</fontconfig>
"""
RULE = """<match target="pattern">
    <test name="family" qual="any"><string>{generic}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>"""


@dataclass(frozen=True)
class Letters:
    """Fonts by family: the letters of text, and those of code."""

    packages: str
    sans: str
    mono: str
    files: tuple[str, ...]
    stretch: float = 1.0

    def configure(self, folder: Path) -> Path:
        """Write the folder of fonts and its configuration, whose path is returned."""
        fonts = folder / "fonts"
        fonts.mkdir(parents=True)
        for name in self.files:
            here = fonts / Path(name).name
            if self.stretch == 1.0:
                here.symlink_to(HOME / name)
            else:
                write_stretched(HOME / name, here, self.stretch)
        generics = {"system-ui": self.sans, "sans-serif": self.sans, "serif": self.sans}
        generics |= {"ui-monospace": self.mono, "monospace": self.mono}
        rules = (RULE.format(generic=g, family=f) for g, f in generics.items())
        path = folder / "fonts.conf"
        path.write_text(
            CONFIGURATION.format(
                folder=escape(str(fonts)),
                cache=escape(str(folder / "cache")),
                rules="\n  ".join(rules),
                sans=self.sans,
            ),
            encoding="utf-8",
        )
        return path

    @property
    def missing(self) -> list[Path]:
        """Files that are not installed."""
        return [HOME / name for name in self.files if not (HOME / name).is_file()]


def write_stretched(source: Path, target: Path, factor: float) -> None:
    """Write the font with `factor` times the room for every letter: wide to whoever lays it out."""
    font = TTFont(source, recalcBBoxes=False)
    metrics = font["hmtx"].metrics
    for name, (advance, bearing) in metrics.items():
        room = round(advance * factor)
        metrics[name] = (room, bearing + (room - advance) // 2)
    font["hhea"].advanceWidthMax = max(advance for advance, _ in metrics.values())
    font.save(target)


_DEJAVU = ("dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "dejavu/DejaVuSansMono.ttf")
_LIBERATION = tuple(
    f"liberation/Liberation{name}.ttf" for name in ("Sans-Regular", "Sans-Bold", "Mono-Regular")
)

LETTERS = {
    "dejavu": Letters("fonts-dejavu-core", "DejaVu Sans", "DejaVu Sans Mono", _DEJAVU),
    "liberation": Letters("fonts-liberation", "Liberation Sans", "Liberation Mono", _LIBERATION),
    "noto": Letters(
        "fonts-noto-core fonts-dejavu-core",
        "Noto Sans",
        "DejaVu Sans Mono",
        ("noto/NotoSans-Regular.ttf", "noto/NotoSans-Bold.ttf", "dejavu/DejaVuSansMono.ttf"),
    ),
    "wide": Letters("fonts-dejavu-core", "DejaVu Sans", "DejaVu Sans Mono", _DEJAVU, STRETCH),
}
