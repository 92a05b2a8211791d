"""Take the pictures of the report and of the page of the service that the tutorial shows.

python tools/picture_pages.py        # needs Chromium and playwright; writes docs/_static
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).resolve().parent.parent / "docs" / "_static"
TUTORIAL = STATIC.parent / "tutorial.md"
WIDTH, HEIGHT = 1000, 700


def commands() -> list[str]:
    """The commands of the tutorial that make the report and both models."""
    lines = TUTORIAL.read_text(encoding="utf-8").splitlines()
    typed = [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in typed if re.match(r"separatrix (convert breast|compare)|printf", line)]


def main() -> None:
    """Run the tutorial in a folder of its own, and look at what it made."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    separatrix = f"{sys.executable} -m separatrix"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for command in commands():
            subprocess.run(
                re.sub(r"^separatrix", separatrix, command), shell=True, cwd=folder, check=True
            )
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(f"file://{folder}/report.html")
        page.screenshot(path=STATIC / "tutorial_report.png")
        with subprocess.Popen(
            [*separatrix.split(), "serve", "cancer.sx", "careful.sx", "--port", "0"],
            cwd=folder,
            text=True,
            stderr=subprocess.PIPE,
        ) as service:
            assert service.stderr is not None
            found = re.search(r"http://\S+", service.stderr.readline())
            assert found is not None
            page.goto(found[0])
            page.get_by_role("button", name="Predict").first.click()
            page.get_by_text("What speaks for").first.wait_for()
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=STATIC / "tutorial_page.png")
            service.terminate()
        browser.close()


if __name__ == "__main__":
    main()
