"""The page before its script runs: names, texts, nothing inline, everything escaped."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from separatrix import models
from separatrix.serve.page.views import render

KINDS = {
    "mail": "text", "people": "table", "sugar": "table", "digits": "pad", "iris": "table",
    "frame": "table", "wide": "numbers", "tagger": "sentence", "chunker": "sentence",
}  # fmt: skip
VOID = {"meta", "link", "br", "img", "wbr", "input", "hr"}


class Page(HTMLParser):
    """Tags of a page; raises where one is not closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", KINDS)
def test_pages(web, name):
    response = web.get(f"/?model={name}")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(response.text)
    content = json.loads(re.search(r'id="model">(.*?)</script>', response.text)[1])
    assert (content["name"], content["page"]) == (name, KINDS[name])
    for tag, attributes in page.tags:
        assert "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        for key in ("href", "src"):
            assert attributes.get(key, "/").startswith(("/", "#", "data:,"))
        if tag == "script" and "src" not in attributes:
            assert attributes["type"] == "application/json"
    labelled = {attributes["for"] for tag, attributes in page.tags if tag == "label"}
    fields = {a["id"] for tag, a in page.tags if tag in ("input", "select", "textarea")}
    assert fields <= labelled


def test_the_first_model_without_a_name(web):
    assert web.get("/").text == web.get("/?model=mail").text
    assert web.get("/?model=none").status_code == 404


def test_files(web):
    names = re.findall(r'from "\./(\w+\.js)"', web.get("/static/main.js").text)
    for name in ("page.css", *names, *(f"{kind}.js" for kind in set(KINDS.values()))):
        response = web.get(f"/static/{name}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(("text/javascript", "text/css"))
    for name in ("none.js", "..%2fviews.py", "../views.py", "%2e%2e/views.py"):
        assert web.get(f"/static/{name}").status_code == 404


def test_names_are_escaped(paths, tmp_path):
    name = "<b onclick='x'>&\"<"
    path = tmp_path / f"{name}.sx"
    shutil.copy(paths["mail"], path)
    model = models.open(path)
    assert model.reader.page == "text"
    page = render(model, [name, "other"])
    assert "<b onclick" not in page
    assert "&lt;b onclick" in page
    Page(page)
