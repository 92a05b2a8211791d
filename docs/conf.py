"""Configuration of the site. `make docs` builds it; neither that nor the pages need the network."""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ["MPLBACKEND"] = "agg"

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src"))

project = "separatrix"
author = "the separatrix developers"
copyright = author
html_title = "separatrix"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "exercises", "generated/**/*.ipynb", "generated/extra"]
templates_path = ["_templates"]
default_role = "literal"  # `names` in docstrings
suppress_warnings = ["config.cache"]
nitpicky = False

# -- Markdown and mathematics -------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# MathJax comes from an installed package, as one file with its fonts inside.
_mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
if _mathjax is None or _mathjax.origin is None:
    raise RuntimeError("sphinx-mathjax-offline is missing: pip install 'separatrix[docs]'")
MATHJAX = Path(_mathjax.origin).parent / "static" / "mathjax" / "tex-svg.js"
mathjax_path = MATHJAX.name
mathjax3_config = {
    "tex": {
        "macros": {"argmax": r"\mathop{\mathrm{arg\,max}}", "argmin": r"\mathop{\mathrm{arg\,min}}"}
    },
    "options": {"enableMenu": False},
}

# -- reference ----------------------------------------------------------------------------------

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_use_plots = False

# -- gallery ------------------------------------------------------------------------------------


def define_file(gallery_conf: dict[str, Any], name: str) -> None:
    """Give an example its `__file__`, by which some look for data; sphinx-gallery does not."""
    builtins.__file__ = str(ROOT / "examples" / Path(name).name)  # type: ignore[attr-defined]


sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",  # all of them run, those that print as well
    "abort_on_example_error": True,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("separatrix",),
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "reset_modules": ("matplotlib", define_file),
    "show_signature": False,
    "write_computation_times": False,
    "default_thumb_file": str(HERE / "_static" / "printed.png"),
    "capture_repr": (),
    "copyfile_regex": "",
}

# -- look ---------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
(HERE / "generated" / "extra").mkdir(parents=True, exist_ok=True)
html_extra_path = ["generated/extra"]  # the report that `write_report` makes
html_static_path = ["_static", str(MATHJAX)]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
# Pages that stand alone have nothing to navigate to.
html_sidebars = {
    name: []
    for name in (
        "performance", "notes", "tutorial", "design", "tour", "command_line", "service", "security",
    )
}  # fmt: skip
html_theme_options = {
    "logo": {"text": "separatrix"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {"**": ["page-toc"], "notes": [], "performance": []},
    "footer_start": [],
    "footer_end": [],
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


# -- docstrings ---------------------------------------------------------------------------------

_CODE = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`)", re.DOTALL)
_REFERENCE = re.compile(r"(?<=\w)_(?![\w`])")
_FIELD = re.compile(r"^\s*[\w*, ]+ : ")


def escape_text(text: str) -> str:
    """Escape what reStructuredText would read as a substitution or as a reference.

    Docstrings are written to be read as plain text: bars are norms, `coef_` is a name.
    """
    parts = _CODE.split(text)
    parts[::2] = [_REFERENCE.sub(r"\\_", part.replace("|", r"\|")) for part in parts[::2]]
    return "".join(parts)


def escape_paragraph(lines: list[str]) -> list[str]:
    """Escape the lines of a paragraph; a code span may run over several."""
    escaped = []
    for old, new in zip(lines, escape_text("\n".join(lines)).split("\n"), strict=True):
        field = _FIELD.match(old)
        if field:
            # numpydoc escapes the names of parameters and attributes itself.
            escaped.append(field[0] + escape_text(old[field.end() :]))
        else:
            escaped.append(old if old.lstrip().startswith(("..", ">>>")) else new)
    return escaped


def escape_docstring(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the prose of a docstring; doctests and literal blocks stay as they are."""
    start, literal = 0, False
    for end in range(len(lines) + 1):
        if end < len(lines) and lines[end].strip():
            continue
        paragraph = lines[start:end]
        if paragraph:
            literal = literal and paragraph[0].startswith("    ")
            if not literal and not paragraph[0].lstrip().startswith(">>>"):
                lines[start:end] = escape_paragraph(paragraph)
                literal = paragraph[-1].endswith("::")
        start = end + 1


def skip_foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what is inherited from other packages: its pages stand elsewhere."""
    module = getattr(obj, "__module__", None) or getattr(
        getattr(obj, "fget", None), "__module__", ""
    )
    return True if module and not str(module).startswith("separatrix") else None


def write_source_pages(app: Any) -> None:
    """Write a page with the source of every file that the table of the notes links to."""
    text = (HERE / "notes.md").read_text(encoding="utf-8")
    named = set(re.findall(r"generated/source/([\w/.-]+?)\.md\b", text))
    source = HERE / "generated" / "source"
    for page in source.rglob("*.md"):  # of a build before, whose file has moved
        if page.relative_to(source).as_posix().removesuffix(".md") not in named:
            page.unlink()
    for path in named:
        page = HERE / "generated" / "source" / f"{path}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        up = "/".join([".."] * (len(page.parent.relative_to(ROOT).parts)))
        content = (
            f"---\norphan: true\n---\n\n# {Path(path).name}\n\n`{path}`\n\n"
            f"```{{literalinclude}} {up}/{path}\n:language: python\n:linenos:\n```\n"
        )
        if not page.exists() or page.read_text(encoding="utf-8") != content:
            page.write_text(content, encoding="utf-8")


def write_exercises(app: Any) -> None:
    """Run every exercise and write its page with what it printed, and the notebook beside it."""
    import jupytext

    there = HERE / "generated" / "exercises"
    there.mkdir(parents=True, exist_ok=True)
    titles: dict[str, str] = {}
    for path in sorted((HERE / "exercises").glob("*.py")):
        notebook, known = jupytext.read(path), {"__name__": "__main__"}
        page: list[str] = []
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                page.append(cell.source)
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(cell.source, str(path), "exec"), known)
            page.append(f"```python\n{cell.source}\n```")
            if printed.getvalue():
                page.append(f"```text\n{printed.getvalue()}```")
        jupytext.write(notebook, there / f"{path.stem}.ipynb")
        page.append(f"{{download}}`The notebook <{path.stem}.ipynb>` (jupytext, without outputs)")
        (there / f"{path.stem}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
        titles[path.stem] = notebook.cells[0].source
    listed = "\n".join(sorted(titles, key=titles.__getitem__))  # titles begin with the note
    (there / "index.md").write_text(
        "# Exercises\n\nOne or more for every note, with solutions from nothing and the library's "
        f"one line at the end.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
        encoding="utf-8",
    )


def write_report(app: Any) -> None:
    """Compare all learners on the digits: the report that the first page links to."""
    target = HERE / "generated" / "extra" / "report.html"
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "separatrix", "compare", "digits", "--quiet"]
    subprocess.run(
        [*command, "--report", target.name],
        check=True,
        cwd=target.parent,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
    )


def write_further_names(app: Any) -> None:
    """Write a page of the public names that the page of the reference does not list."""
    import separatrix

    listed = set(re.findall(r"^   (\w+)$", (HERE / "reference.md").read_text(), re.MULTILINE))
    further = sorted(set(separatrix.__all__) - listed)
    rows = "".join(f"   {name}\n" for name in further)
    table = f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}" if further else ""
    page = HERE / "generated" / "further.rst"
    page.parent.mkdir(parents=True, exist_ok=True)
    title = "Further names" if further else "All names are listed"
    content = f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: separatrix\n\n{table}"
    if not page.exists() or page.read_text(encoding="utf-8") != content:
        page.write_text(content, encoding="utf-8")


def setup(app: Any) -> None:
    """Connect the handlers above; that of docstrings comes before numpydoc's (priority 500)."""
    # Before autosummary (priority 500) looks for names.
    app.connect("builder-inited", write_source_pages, priority=100)
    app.connect("builder-inited", write_exercises, priority=100)
    app.connect("builder-inited", write_report, priority=100)
    app.connect("builder-inited", write_further_names, priority=100)
    app.connect("autodoc-process-docstring", escape_docstring, priority=400)
    app.connect("autodoc-skip-member", skip_foreign)
