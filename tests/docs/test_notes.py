"""The tables of the notes are whole, in the notes' order, and every link leads somewhere."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import pytest

import separatrix.plots

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PARTS = [f"A{i}" for i in range(1, 16)] + [f"B{i}" for i in range(1, 8)]
PARTS += [f"C{i}" for i in range(1, 9)] + [f"D{i}" for i in range(1, 8)]
PARTS += [f"E{i}" for i in range(1, 5)]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PAGES = sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.parts)
GUIDE = sorted(path for path in (DOCS / "guide").glob("*.md") if path.stem != "index")


def rows():
    """Cells of every part."""
    lines = (DOCS / "notes.md").read_text(encoding="utf-8").splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {cells[0]: cells for cells in table if re.fullmatch(r"[A-E]\d+", cells[0])}


def leads_somewhere(link, page):
    """Whether the target of a link of `page` is there, or is made from something that is."""
    target = link.partition("#")[0]
    if not target or "://" in target:
        return True
    if "generated/source/" in target:
        return (ROOT / target.split("generated/source/")[1].removesuffix(".md")).is_file()
    if target.endswith("generated/further.rst"):
        return True
    if "generated/exercises/" in target:
        name = target.split("generated/exercises/")[1].removesuffix(".md")
        return name == "index" or (DOCS / "exercises" / f"{name}.py").is_file()
    if "generated/gallery/" in target:
        name = target.split("generated/gallery/")[1].removesuffix(".rst")
        return name == "index" or (ROOT / "examples" / f"{name}.py").is_file()
    return (page.parent / target).is_file()


def sections():
    """Number of the note -> cells of each of its sections."""
    text = (DOCS / "notes.md").read_text(encoding="utf-8")
    index = text.split("## By note and section")[1].split("\n## ")[0]
    found = {}
    for part in index.split("\n### ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
        found[part[:3]] = [
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines
        ]
    return found


@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_every_section_has_page_class_test_and_exercise(note):
    assert len(sections()[note]) >= 5
    for title, formula, page, thing, test, exercise in sections()[note]:
        assert title
        assert formula
        for cell in (page, test, exercise):
            (link,) = LINK.findall(cell)
            assert leads_somewhere(link, DOCS / "notes.md"), (title, link)
        (name,) = re.findall(r"`~separatrix\.([\w.]+)`", thing)
        assert operator.attrgetter(name)(separatrix), (title, name)
        path = ROOT / LINK.findall(test)[0].split("generated/source/")[1].removesuffix(".md")
        named = re.findall(r"`(\w+)`", test)[0]
        text = path.read_text(encoding="utf-8")
        assert named == path.stem or f"def {named}(" in text, (title, named)


@pytest.mark.parametrize("note", ["000", "001", "002", "003", "004"])
def test_sections_are_those_of_the_note_in_their_order(note, data_dir):
    files = list((data_dir.parent / "seeds").glob(f"{note}_*.txt"))
    if not files:
        pytest.skip("the notes are not here")
    text = " ".join(files[0].read_text(encoding="utf-8").split())
    place = 0
    for title, *_ in sections()[note]:
        place = text.find(title, place)
        assert place >= 0, f"{title} is not in the note, or stands before the section above it"


def test_every_part_is_there():
    assert list(rows()) == PARTS
    assert len(PARTS) == 41


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_a_page_code_and_tests(part):
    _, name, *linked = rows()[part]
    assert name
    for cell in linked:
        links = LINK.findall(cell)
        assert links
        assert [link for link in links if not leads_somewhere(link, DOCS / "notes.md")] == []


def test_named_tests_are_in_their_files():
    for part, cells in rows().items():
        for entry in cells[4].split("<br>"):
            path = ROOT / LINK.findall(entry)[0].split("generated/source/")[1].removesuffix(".md")
            for name in re.findall(r"`(test_\w+)`", entry.partition(")")[2]):
                assert f"def {name}(" in path.read_text(encoding="utf-8"), (part, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_page_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [link for link in LINK.findall(text) if not leads_somewhere(link, page)] == []


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_a_page_of_the_guide_has_its_parts(page):
    text = page.read_text(encoding="utf-8")
    wanted = ["Idea", "Formula", "Code", "Picture", "When to use it", "What it costs"]
    wanted.append("Questions in the notes")
    if page.stem.startswith("beyond_"):
        pytest.skip("beyond the notes")
    assert [name for name in wanted if f"\n## {name}\n" not in text] == []


def test_every_example_has_a_title_and_every_picture_a_script():
    titles = {}
    for path in (ROOT / "examples").glob("*.py"):
        found = re.match(r'"""\n(.+)\n(=+)\n\n', path.read_text(encoding="utf-8"))
        assert found, f"{path.name}: the docstring begins with a title, underlined with ="
        assert len(found[1]) == len(found[2]), path.name
        titles[path.stem] = found[1]
    assert len(set(titles.values())) == len(titles)
    for page in PAGES:
        for name in re.findall(r"sphx_glr_(\w+)_\d\d\d\.png", page.read_text(encoding="utf-8")):
            assert name in titles, (page.name, name)


def test_every_example_stands_in_the_gallery_once():
    shown = re.findall(
        r"^   \.\./examples/(\w+)\.py$", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(shown) == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
