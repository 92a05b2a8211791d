"""The Dockerfile and the unit of systemd: no root, read-only, options that the command has."""

from __future__ import annotations

import configparser
import re
import shlex

import pytest
import typer

from separatrix.cli.serve import serve
from tests.unit.serve.served import ROOT


def instructions():
    """Instructions of the Dockerfile and their arguments, lines joined and comments left out."""
    text = (ROOT / "deploy/Dockerfile").read_text()
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def parameters():
    """Options of `separatrix serve`."""
    app = typer.Typer()
    app.command()(serve)
    return typer.main.get_command(app).params


def check_options(words):
    """Whether every option is one of `separatrix serve`."""
    known = {name for parameter in parameters() for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_dockerfile():
    found = instructions()
    last = [name for name, _ in found[max(i for i, one in enumerate(found) if one[0] == "FROM") :]]
    assert last.index("USER") < last.index("ENTRYPOINT")
    users = [what for name, what in found if name == "USER"]
    assert users == ["10001"]  # a number: Kubernetes' runAsNonRoot knows no names
    health = next(what for name, what in found if name == "HEALTHCHECK")
    assert "/readyz" in health
    start = next(what for name, what in found if name == "ENTRYPOINT")
    words = [word.strip('"') for word in start.strip("[]").split(", ")]
    assert words[:2] == ["separatrix", "serve"]
    check_options(words)
    assert not [what for name, what in found if name == "ADD"]
    assert "TOKEN" not in " ".join(what for name, what in found if name in ("ENV", "ARG"))
    for _, what in found:
        assert not re.search(r"FROM \S+:latest", what)


def test_the_unit():
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(ROOT / "deploy/separatrix.service")
    service = unit["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[1] == "serve"
    check_options(words)
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "ProtectHome"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    assert "-HUP" in service["ExecReload"]
    # All that is under way may take the time limit and five seconds.
    limit = next(one for one in parameters() if one.name == "time_limit")
    assert float(service["TimeoutStopSec"]) > limit.default + 5


@pytest.mark.parametrize("name", ["Dockerfile", "separatrix.service"])
def test_the_page_names_them(name):
    assert f"deploy/{name}" in (ROOT / "docs/service.md").read_text()
