"""Folders of images and of label images: from `compare` to predictions."""

import json

import numpy as np
import pytest

from separatrix.data import read

imageio = pytest.importorskip("skimage.io")


@pytest.fixture
def folder(tmp_path):
    """Images whose bright squares are to be found; the sizes differ."""
    random = np.random.default_rng(0)
    for part in ("photos", "masks"):
        (tmp_path / "squares" / part).mkdir(parents=True)
    for number in range(15):
        height, width = 10 + number % 3, 12
        truth = np.zeros((height, width), dtype=np.uint8)
        top, left = random.integers(1, 5, size=2)
        truth[top : top + 5, left : left + 5] = 255
        image = np.clip(0.6 * truth + random.normal(50, 20, truth.shape), 0, 255)
        for part, values in (("photos", image), ("masks", truth)):
            path = tmp_path / "squares" / part / f"{number:02d}.png"
            imageio.imsave(path, values.astype(np.uint8), check_contrast=False)
    return tmp_path / "squares"


def test_a_folder_of_images_goes_all_the_way(run, folder):
    done = run("compare", "squares", "--save", "m.sx", "--report", "r.html", "--json", "--quiet")
    assert done.code == 0, done.err
    board = json.loads(done.out)["leaderboard"]
    assert {row["learner"] for row in board} == {
        "majority_pixel",
        "pixel_logistic",
        "grid_perceptron",
        "grid_crf",
    }
    scores = {row["learner"]: row["held_out"] for row in board}
    assert scores["grid_crf"] > scores["majority_pixel"] + 0.1
    done = run("predict", "m.sx", "squares/photos")
    first, *lines = done.out.splitlines()
    assert first.split(",")[:4] == ["image", "row", "column", "prediction"]
    assert len(lines) == sum(12 * (10 + number % 3) for number in range(15))
    truth = np.concatenate([one.ravel() for one in read(folder).y])
    found = [int(line.split(",")[3]) for line in lines]
    assert np.mean(np.array(found) == truth) > 0.9
    done = run("evaluate", "m.sx", "squares")
    assert done.code == 0, done.err
    assert float(done.out.split()[1]) > 0.9


def test_what_is_wrong_with_a_folder_of_images_is_said(run, folder):
    (folder / "masks" / "03.png").rename(folder / "masks" / "away.png")
    done = run("compare", "squares")
    assert done.code == 1
    assert "photos/03 has nothing of its name in masks" in done.err
    (folder / "masks" / "away.png").rename(folder / "masks" / "03.png")
    (folder / "masks").rename(folder / "drawn")
    done = run("compare", "squares")
    assert done.code == 1
    assert "'drawn', 'photos'" in done.err
    assert "-t" in done.err
    assert read(folder, target="drawn").target_name == "drawn"
    imageio.imsave(folder / "drawn" / "05.png", np.zeros((3, 3), np.uint8), check_contrast=False)
    done = run("compare", "squares", "-t", "drawn")
    assert "the image 05 has shape (12, 12), its label image (3, 3)" in done.err
    (folder / "drawn" / "05.png").write_bytes(b"no image")
    done = run("compare", "squares", "-t", "drawn")
    assert done.code == 1
    assert "05.png: not a whole image" in done.err
