"""What pages say about the code is there: layers, folders, files and names."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import typer

import separatrix
from separatrix.cli.app import app

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "separatrix"
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [path for path in sorted(DOCS.rglob("*.md")) if "generated" not in path.parts]
#: Names that stand for one of your own.
EXAMPLE_NAMES = {"src/separatrix/cli/NAME.py"}
#: Where files that a page names may lie.
ROOTS = (ROOT, SOURCE, DOCS, ROOT / "crates" / "kernels" / "src", ROOT / "crates" / "kernels")


def test_the_table_of_layers_is_the_one_that_is_checked():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("## The layers")[1]
    table = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = [set(re.findall(r"`(\w+)`", cell)) for cell in table]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    checked = [set(re.findall(r"\w+", layer)) for layer in layers]
    assert named == [layer for layer in checked if layer != {"__main__"}]


def test_the_tree_names_every_package():
    tree = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## The tree")[1]
    named = set(re.findall(r"([\w.]+)(?:/|\.py)", tree.split("\n## ")[0]))
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    for parent in ("bayes", "learners", "structures", "solvers", "compat", "features", "data"):
        packages |= {path.parent.name for path in (SOURCE / parent).glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("__")}
    assert packages | modules <= named, sorted((packages | modules) - named)


def resolves(dotted):
    """Whether a dotted name leads to a module or something in one."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for name in parts[n:]:
            if not hasattr(thing, name):
                return name in getattr(thing, "__annotations__", {})
            thing = getattr(thing, name)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_and_files_in_a_page_are_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    names = set(re.findall(r"`~?(separatrix(?:\.\w+)+)", text))
    assert sorted(name for name in names if not resolves(name)) == []
    files = set(re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|pyi|rs|md|toml))`", text))
    lost = [
        name for name in files - EXAMPLE_NAMES if not any((root / name).exists() for root in ROOTS)
    ]
    assert sorted(lost) == []


def commands():
    """Name of every command -> its options."""
    group = typer.main.get_command(app)
    context = typer.Context(group)
    found = {}
    for name in group.list_commands(context):
        parameters = group.get_command(context, name).params
        found[name] = {one for p in parameters for one in (*p.opts, *p.secondary_opts)}
    return found


#: Options of other programs, and of the command itself.
OTHER_PROGRAMS = {"--version", "--help", "--install-completion", "--show-completion"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_parameters_and_options_in_a_page_are_there(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    wrong = []
    for name, given in re.findall(r"(?<![\w.])`(\w+)\(([^`]*)\)`", text):
        ours = getattr(separatrix, name, None)
        if ours is None or page.stem.startswith(
            "from_"
        ):  # those pages have the classes of others, of the same names
            continue
        parameters = inspect.signature(ours).parameters
        if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            continue
        said = re.findall(r"(?:^|, )(\w+)=", given)
        wrong += [f"{name}({one})" for one in said if one not in parameters]
    known = commands()
    options = set().union(*known.values(), OTHER_PROGRAMS)
    pattern = (
        r"`(separatrix [^`]*)`"
        if page.stem.startswith("from_")
        else r"`(separatrix [^`]*|--[\w-]+[^`]*)`"
    )
    for line in re.findall(pattern, text):
        wrong += [one for one in re.findall(r"(?<!\S)--[a-z-]+", line) if one not in options]
        command = re.match(r"separatrix ([a-z]+)", line)
        if command and command[1] not in known:
            wrong.append(line)
    assert wrong == []


def test_the_page_of_the_command_line_has_every_command():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8").split("| command |")[1]
    named = set(re.findall(r"^\| .*?\|", page, re.MULTILINE))
    told = set(re.findall(r"`(\w+)", " ".join(named)))
    assert set(commands()) - told == set()
